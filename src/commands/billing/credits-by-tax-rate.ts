import { decimalText, roundToMinorUnit, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { taxOf } from '../../kernel/numbers/tax.js';
import { eachInPortions } from '../../kernel/portions.js';

/** An item of an invoice of which grants may have paid something. */
export interface CreditableItem {
  /** Exact, and what of it grants have paid. */
  readonly amount: Decimal;
  readonly credited: Decimal;
  /** As the invoice shows it. */
  readonly rounded: Decimal;
  readonly tax: Decimal;
  readonly taxRate: Decimal | null;
}

/** What grants have paid of the items of a tax rate. */
export interface CreditsOfRate<I> {
  readonly key: string;
  readonly items: readonly I[];
  readonly exact: Decimal;
  readonly amount: Decimal;
  readonly tax: Decimal;
}

/**
 * What grants have paid, by tax rate (spec/beyond.md R266). What is left of an item is rounded, and
 * taxed, as if it alone were billed: an item that is paid whole leaves nothing, to the cent, and no tax.
 */
export async function creditsByRate<I extends CreditableItem>(
  items: readonly I[],
  digits: number,
): Promise<CreditsOfRate<I>[]> {
  const byRate = new Map<string, CreditsOfRate<I> & { readonly items: I[] }>();
  await eachInPortions(items, (item) => {
    const { credited, rounded, tax, taxRate } = item;
    if (credited.isZero()) return;
    const key = taxRate === null ? 'untaxed' : decimalText(taxRate);
    const known = byRate.get(key) ?? { key, items: [], exact: ZERO, amount: ZERO, tax: ZERO };
    known.items.push(item);
    const amount = paidOf(item, digits);
    byRate.set(key, {
      ...known,
      exact: known.exact.plus(credited),
      amount: known.amount.plus(amount),
      tax: known.tax.plus(tax.minus(taxOf(rounded.minus(amount), taxRate, digits))),
    });
  });
  return [...byRate.values()];
}

const paidOf = ({ amount, credited, rounded }: CreditableItem, digits: number): Decimal =>
  credited.eq(amount) ? rounded : rounded.minus(roundToMinorUnit(amount.minus(credited), digits));
