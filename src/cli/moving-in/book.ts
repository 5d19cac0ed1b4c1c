import { Decimal, parseDecimal } from '../../kernel/numbers/money.js';
import type { Faults, TakeFault } from './faults.js';

/** Where in which file something stands, for whoever has to mend it. */
interface Placed {
  readonly place: string;
}

/** What another billing system knows of a customer. */
interface ImportedCustomer extends Placed {
  readonly externalId: string;
  readonly name: string;
  readonly currency: string | null;
}

/** A tier as another system has it; amounts are decimal text, `to` null: it is open. */
export interface ImportedTier {
  /** Where it stands, if it has a row of its own. */
  readonly place?: string;
  readonly to: string | null;
  readonly unitAmount: string;
  readonly flatAmount: string;
}

export const priceModels = ['unit', 'flat', 'package', 'graduated', 'volume'] as const;
export type PriceModel = (typeof priceModels)[number];

export const isModel = (text: string): text is PriceModel =>
  (priceModels as readonly string[]).includes(text);

/** What a meter costs in a currency. */
export interface ImportedPrice extends Placed {
  /** The name of the service that it becomes. */
  readonly meter: string;
  readonly currency: string;
  /** Null: what stands there is no model, and is among the faults. */
  readonly model: PriceModel | null;
  /** Of `unit` and `package` for each unit or package, of `flat` for each event. */
  readonly amount: string;
  readonly packageSize: string | null;
  readonly tiers: readonly ImportedTier[];
  /** Whose price it is; null: everybody's. */
  readonly customer: string | null;
}

export interface ImportedEvent extends Placed {
  readonly id: string;
  readonly customer: string;
  readonly meter: string;
  /** An instant. */
  readonly at: string;
  /** Decimal text. */
  readonly quantity: string;
}

/** Where the entry of a list of a file is, counted from 0 as in its JSON. */
export const entryOf = (file: string, index: number): string => `${file}, entry ${index}`;

/** What is moved from another system, and what of it cannot be. */
export interface ImportedBook {
  readonly customers: readonly ImportedCustomer[];
  readonly prices: readonly ImportedPrice[];
  /** Reads the events, once more each time: they may be more than fits into memory. */
  readonly events: () => AsyncIterable<ImportedEvent>;
  /** What is left behind, and why. */
  readonly left: readonly string[];
  /** What is wrong in its files, as far as they were read. */
  readonly faults: Faults;
}

/** The one attribute of a service that a meter becomes. */
export const quantityAttribute = 'quantity';

export interface RateRow {
  readonly priceDimName: string;
  readonly label: string;
  readonly priceMethod: string;
  readonly [rate: string]: unknown;
}

/** A number with all its digits: JSON is written by hand around it. */
class DecimalNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const isDecimal = (text: string): boolean =>
  /^-?\d+(\.\d+)?$/.test(text) && parseDecimal(text) !== null;

const isZero = (text: string): boolean => /^-?0*(\.0*)?$/.test(text);

/** A decimal number of a field, as it is: what is none is a fault. */
function numberOf(field: string, text: string, fault: (what: string) => void): DecimalNumber {
  if (!isDecimal(text)) fault(`${field} '${text}' is no decimal number, such as 0.25`);
  return new DecimalNumber(text);
}

/** The row of a rate card for a price. What no price method says, or is no number, is a fault. */
export function rateRowOf(price: ImportedPrice, take: TakeFault): RateRow | null {
  const { place, model, amount, packageSize, meter } = price;
  const row = { priceDimName: quantityAttribute, label: meter };
  const fault = (what: string) => take(place, `price of '${meter}': ${what}`);
  const number = (field: string, text: string) => numberOf(field, text, fault);
  const rate = () => number('amount', amount);
  if (model === null) return null;
  if (model === 'unit') return { ...row, priceMethod: 'QUANTITY', unitRate: rate() };
  if (model === 'flat') return { ...row, priceMethod: 'FLAT_RATE', flatRate: rate() };
  if (model === 'package') {
    const size = number('packageSize', packageSize ?? '1');
    if (isDecimal(size.text) && new Decimal(size.text).lessThanOrEqualTo(0)) {
      fault(`packageSize '${size.text}' is not above zero`);
    }
    return { ...row, priceMethod: 'PACKAGE', unitRate: rate(), packageSize: size };
  }
  const priceMethod = model === 'volume' ? 'VOLUME' : 'TIERED';
  return { ...row, priceMethod, rateCardTiers: tiersOf(price, take) };
}

function tiersOf({ place, meter, tiers }: ImportedPrice, take: TakeFault) {
  let from = '0';
  return tiers.map(({ place: own = place, to, unitAmount, flatAmount }, index) => {
    const tierNum = index + 1;
    const fault = (what: string) => take(own, `price of '${meter}': tier ${tierNum}: ${what}`);
    const number = (field: string, text: string) => numberOf(field, text, fault);
    const isFlat = isZero(unitAmount) && !isZero(flatAmount);
    if (!isFlat && !isZero(flatAmount)) {
      const both = `unitAmount '${unitAmount}' and flatAmount '${flatAmount}'`;
      fault(`${both}: a tier has an amount for each unit or one for itself, not both`);
    }
    const isLast = tierNum === tiers.length;
    if ((to === null) !== isLast) {
      fault(`upTo is '${to ?? ''}': the last tier is open (upTo empty), and no other`);
    }
    const tier = {
      tierNum,
      tierMinVal: new DecimalNumber(from),
      ...(to === null ? {} : { tierMaxVal: number('upTo', to) }),
      tierUnitRate: isFlat ? number('flatAmount', flatAmount) : number('unitAmount', unitAmount),
      flatRate: isFlat,
    };
    if (to === null || !isDecimal(to)) return tier;
    if (new Decimal(to).lessThanOrEqualTo(from)) {
      fault(`upTo '${to}' is not above ${from}`);
    }
    from = to;
    return tier;
  });
}

/** Whether a price depends on what was used in the month before. */
export const isMetered = ({ model }: ImportedPrice): boolean =>
  model !== 'unit' && model !== 'flat';

const currencies = new Set(Intl.supportedValuesOf('currency'));

export const isCurrency = (text: string): boolean => currencies.has(text);

/** Decimal digits of the minor units of a currency: 2 of USD, 0 of JPY. */
export const minorDigits = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits ?? 2;

/** An amount in minor units as one in units: 1250 cents are 12.50. */
export function fromMinor(text: string, currency: string): string {
  const digits = minorDigits(currency);
  const [whole = '0', fraction = ''] = text.split('.');
  const sign = whole.startsWith('-') ? '-' : '';
  const padded = whole.replace('-', '').padStart(digits + 1, '0');
  const end = padded.length - digits;
  const rest = padded.slice(end) + fraction;
  return `${sign}${padded.slice(0, end)}${rest === '' ? '' : `.${rest}`}`;
}

/** Whether a row that is stored says what a row of a book says; it may say more. */
export function saysSame(wanted: unknown, stored: unknown): boolean {
  if (wanted instanceof DecimalNumber) {
    const isNumber = typeof stored === 'number' || stored instanceof Decimal;
    return isNumber && new Decimal(stored).equals(wanted.text);
  }
  if (typeof wanted !== 'object' || wanted === null) return wanted === stored;
  if (typeof stored !== 'object' || stored === null) return false;
  if (Array.isArray(wanted) && Array.isArray(stored) && wanted.length !== stored.length) {
    return false;
  }
  return Object.entries(wanted).every(
    // A stored row names its attribute by id.
    ([name, value]) => name === 'priceDimName' || saysSame(value, Reflect.get(stored, name)),
  );
}

/** JSON whose decimal numbers keep all their digits. */
export function bookJson(value: unknown): string {
  if (value instanceof DecimalNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(bookJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, of]) => of !== undefined);
    return `{${members.map(([name, of]) => `${JSON.stringify(name)}:${bookJson(of)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}
