import { Decimal } from '../../kernel/numbers/money.js';

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
  readonly to: string | null;
  readonly unitAmount: string;
  readonly flatAmount: string;
}

export const priceModels = ['unit', 'flat', 'package', 'graduated', 'volume'] as const;
export type PriceModel = (typeof priceModels)[number];

/** What a meter costs in a currency. */
export interface ImportedPrice extends Placed {
  /** The name of the service that it becomes. */
  readonly meter: string;
  readonly currency: string;
  readonly model: PriceModel;
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
  constructor(name: string, text: string) {
    if (!isDecimal(text)) throw new Error(`${name} '${text}' is no decimal number, such as 0.25`);
    this.text = text;
  }
}

export const isDecimal = (text: string): boolean => /^-?\d+(\.\d+)?$/.test(text);

const isZero = (text: string): boolean => /^-?0*(\.0*)?$/.test(text);

/**
 * The row of a rate card for a price. Throws where no price method says the same: a tier that has both
 * an amount for each unit and one for itself.
 */
export function rateRowOf(price: ImportedPrice): RateRow {
  const { model, amount, packageSize, tiers, meter } = price;
  const row = { priceDimName: quantityAttribute, label: meter };
  if (model === 'unit') {
    return { ...row, priceMethod: 'QUANTITY', unitRate: new DecimalNumber('amount', amount) };
  }
  if (model === 'flat') {
    return { ...row, priceMethod: 'FLAT_RATE', flatRate: new DecimalNumber('amount', amount) };
  }
  if (model === 'package') {
    const size = new DecimalNumber('packageSize', packageSize ?? '1');
    return {
      ...row,
      priceMethod: 'PACKAGE',
      unitRate: new DecimalNumber('amount', amount),
      packageSize: size,
    };
  }
  let from = '0';
  const rateCardTiers = tiers.map(({ to, unitAmount, flatAmount }, index) => {
    const isFlat = isZero(unitAmount) && !isZero(flatAmount);
    if (!isFlat && !isZero(flatAmount)) {
      throw new Error(`tier ${index + 1} has an amount for each unit and one for itself`);
    }
    const isLast = index === tiers.length - 1;
    if ((to === null) !== isLast) {
      throw new Error(`tier ${index + 1}: the last tier is open (upTo empty), and no other`);
    }
    const tier = {
      tierNum: index + 1,
      tierMinVal: new DecimalNumber('upTo', from),
      ...(to === null ? {} : { tierMaxVal: new DecimalNumber('upTo', to) }),
      tierUnitRate: isFlat
        ? new DecimalNumber('flatAmount', flatAmount)
        : new DecimalNumber('unitAmount', unitAmount),
      flatRate: isFlat,
    };
    if (to !== null && new Decimal(to).lessThanOrEqualTo(from)) {
      throw new Error(`tier ${index + 1} ends at ${to}, which is not above ${from}`);
    }
    from = to ?? from;
    return tier;
  });
  return { ...row, priceMethod: model === 'volume' ? 'VOLUME' : 'TIERED', rateCardTiers };
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
