import {
  decimalText,
  roundToMinorUnit,
  sum,
  ZERO,
  type Decimal,
} from '../../kernel/numbers/money.js';
import { taxOf } from '../../kernel/numbers/tax.js';

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
export function creditsByRate<I extends CreditableItem>(
  items: readonly I[],
  digits: number,
): CreditsOfRate<I>[] {
  const byRate = new Map<string, I[]>();
  for (const item of items) {
    if (item.credited.isZero()) continue;
    const key = item.taxRate === null ? 'untaxed' : decimalText(item.taxRate);
    const known = byRate.get(key);
    if (known) known.push(item);
    else byRate.set(key, [item]);
  }
  return [...byRate].map(([key, ofRate]) => {
    const amounts = ofRate.map((item) => paidOf(item, digits));
    return {
      key,
      items: ofRate,
      exact: sum(ofRate.map(({ credited }) => credited)),
      amount: sum(amounts),
      tax: sum(
        ofRate.map(({ tax, rounded, taxRate }, index) =>
          tax.minus(taxOf(rounded.minus(amounts[index] ?? ZERO), taxRate, digits)),
        ),
      ),
    };
  });
}

const paidOf = ({ amount, credited, rounded }: CreditableItem, digits: number): Decimal =>
  credited.eq(amount) ? rounded : rounded.minus(roundToMinorUnit(amount.minus(credited), digits));
