import { Decimal, roundToMinorUnit } from '../../kernel/numbers/money.js';
import type { PdfItem } from '../../messages/pdf-invoice.js';

/** How numbers are written on an invoice. */
export interface Formats {
  /** Of the currency, with its sign. */
  readonly money: (text: string) => string;
  /** A price, with all its digits. */
  readonly price: (text: string) => string;
  /** A quantity, with all its digits. */
  readonly count: (text: string) => string;
  readonly minorDigits: number;
}

/** Tiers that one item shows. */
const tiersMax = 50;

/** Whether quantity times price is the amount, as whoever checks an invoice computes it. */
function isProduct({ volume, rate, amount, method }: PdfItem, minorDigits: number): boolean {
  if (rate === null) return false;
  const each = method === 'AMOUNT' ? new Decimal(rate).dividedBy(100) : new Decimal(rate);
  return roundToMinorUnit(each.times(volume), minorDigits).equals(amount);
}

/** The price of a unit: none where tiers or pricing logic made the amount. */
export function priceText({ rate, method }: PdfItem, { price, count }: Formats): string {
  if (rate === null || method === 'TIERED' || method === 'VOLUME') return '';
  return method === 'AMOUNT' ? `${count(rate)} %` : price(rate);
}

/** What stands below an item: tiers, steps, days; and whatever else makes its amount no product. */
export function linesOfItem(item: PdfItem, formats: Formats): string[] {
  const { tiers, steps, proration } = item;
  if (tiers.length === 0 && steps.length === 0 && proration === null) {
    const isPlain = item.method !== 'VOLUME' && isProduct(item, formats.minorDigits);
    return isPlain ? [] : [reasonOf(item, formats)];
  }
  return [
    ...tierLines(item, formats),
    ...stepLines(item, formats),
    ...(proration ? [daysText(item, formats)] : []),
  ];
}

function tierLines({ tiers }: PdfItem, { money, price, count }: Formats): string[] {
  const shown = tiers.slice(0, tiersMax).map(({ from, to, volume, unitRate, isFlat, amount }) => {
    const band = to === null ? `above ${count(from)}` : `${count(from)} to ${count(to)}`;
    const cost = isFlat
      ? `${price(unitRate)} for the band`
      : `${count(volume)} × ${price(unitRate)}`;
    return `${band}: ${cost} = ${money(amount)}`;
  });
  const rest = tiers.length - shown.length;
  return rest === 0 ? shown : [...shown, `and ${rest} further tiers`];
}

function stepLines({ steps, stepsOf }: PdfItem, { count }: Formats): string[] {
  const head = stepsOf > 1 ? [`Computed for each of ${count(String(stepsOf))} events:`] : [];
  const lines = steps.map(({ label, name, formula, value }) => {
    if (value === null) return `${label ?? name} = ${formula}`;
    return `${label ?? `${name} = ${formula}`}: ${numberText(value, count)}`;
  });
  return steps.length === 0 ? [] : [...head, ...lines];
}

const decimalForm = /^-?\d+(\.\d+)?$/;
const numberText = (value: string, count: Formats['count']): string =>
  decimalForm.test(value) ? count(value) : value;

/** The price of the whole period follows from what its days cost. */
function daysText({ proration, exactAmount, amount }: PdfItem, formats: Formats): string {
  if (proration === null) return '';
  const { days, of, text } = proration;
  const whole = new Decimal(exactAmount ?? amount).times(of).dividedBy(days);
  return `${text} of ${formats.money(roundToMinorUnit(whole, formats.minorDigits).toFixed())}`;
}

/** What the whole volume cost for each unit. */
function volumeText({ rate, volume }: PdfItem, price: Formats['price']): string {
  const each = rate === null || new Decimal(volume).isZero() ? '' : `: ${price(rate)} each`;
  return `The whole volume at the rate of its tier${each}`;
}

/** Why quantity times price is not the amount. */
function reasonOf(item: PdfItem, { price }: Formats): string {
  const { rate, amount, exactAmount, method } = item;
  if (method === 'FLAT_RATE' && rate !== null) {
    const times = new Decimal(rate).isZero()
      ? new Decimal(1)
      : new Decimal(exactAmount ?? amount).dividedBy(rate);
    if (times.equals(1) || !times.isInteger()) return `${price(rate)}, whatever the quantity`;
    return `${times.toFixed()} times ${price(rate)}, whatever the quantity`;
  }
  if (method === 'TIERED') return 'Price by tiers of the volume';
  if (method === 'VOLUME') return volumeText(item, price);
  if (method === 'PACKAGE' && rate !== null && !new Decimal(rate).isZero()) {
    const count = new Decimal(exactAmount ?? amount).dividedBy(rate);
    if (count.isInteger()) return `${count.toFixed()} packages at ${price(rate)}`;
  }
  return method === null ? 'Computed by the pricing logic of the service' : 'Sum of single prices';
}
