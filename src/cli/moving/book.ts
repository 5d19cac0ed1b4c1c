/** What another billing system knows of a customer. */
interface ImportedCustomer {
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
export interface ImportedPrice {
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

export interface ImportedEvent {
  readonly id: string;
  readonly customer: string;
  readonly meter: string;
  /** An instant. */
  readonly at: string;
  /** Decimal text. */
  readonly quantity: string;
}

/** What is moved from another system, and what of it cannot be. */
export interface ImportedBook {
  readonly customers: readonly ImportedCustomer[];
  readonly prices: readonly ImportedPrice[];
  readonly events: readonly ImportedEvent[];
  /** What is left behind, and why. */
  readonly left: readonly string[];
}

/** The one attribute of a service that a meter becomes. */
export const quantityAttribute = 'quantity';

interface RateRow {
  readonly priceDimName: string;
  readonly label: string;
  readonly priceMethod: string;
  readonly [rate: string]: unknown;
}

/** A number with all its digits: JSON is written by hand around it. */
class DecimalNumber {
  readonly text: string;
  constructor(text: string) {
    if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Error(`'${text}' is no decimal number.`);
    this.text = text;
  }
}

const isZero = (text: string): boolean => /^-?0*(\.0*)?$/.test(text);

/**
 * The row of a rate card for a price. Throws where no price method says the same: a tier that has both
 * an amount for each unit and one for itself.
 */
export function rateRowOf(price: ImportedPrice): RateRow {
  const { model, amount, packageSize, tiers, meter } = price;
  const row = { priceDimName: quantityAttribute, label: meter };
  if (model === 'unit') {
    return { ...row, priceMethod: 'QUANTITY', unitRate: new DecimalNumber(amount) };
  }
  if (model === 'flat') {
    return { ...row, priceMethod: 'FLAT_RATE', flatRate: new DecimalNumber(amount) };
  }
  if (model === 'package') {
    const size = new DecimalNumber(packageSize ?? '1');
    return {
      ...row,
      priceMethod: 'PACKAGE',
      unitRate: new DecimalNumber(amount),
      packageSize: size,
    };
  }
  let from = '0';
  const rateCardTiers = tiers.map(({ to, unitAmount, flatAmount }, index) => {
    const isFlat = isZero(unitAmount) && !isZero(flatAmount);
    if (!isFlat && !isZero(flatAmount)) {
      throw new Error(`a tier of '${meter}' has an amount for each unit and one for itself`);
    }
    const tier = {
      tierNum: index + 1,
      tierMinVal: new DecimalNumber(from),
      ...(to === null ? {} : { tierMaxVal: new DecimalNumber(to) }),
      tierUnitRate: new DecimalNumber(isFlat ? flatAmount : unitAmount),
      flatRate: isFlat,
    };
    from = to ?? from;
    return tier;
  });
  return { ...row, priceMethod: model === 'volume' ? 'VOLUME' : 'TIERED', rateCardTiers };
}

/** Whether a price depends on what was used in the month before. */
export const isMetered = ({ model }: ImportedPrice): boolean =>
  model !== 'unit' && model !== 'flat';

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
