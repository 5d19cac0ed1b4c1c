import { Decimal, ONE, roundAmount, sum, ZERO } from '../../kernel/numbers/money.js';
import type { Prepared } from '../prepare-event.js';
import type { PlanDiscount } from '../types.js';
import type { ExactCharge } from './total.js';

/** What a discount made of an amount; exact, before any rounding. */
export interface DiscountStep extends PlanDiscount {
  readonly before: Decimal;
  readonly after: Decimal;
}

/** A charge with what discounts leave of it; undefined where there are none. */
export interface AdjustedCharge extends ExactCharge {
  readonly adjusted?: { readonly steps: readonly DiscountStep[]; readonly net: Decimal };
}

/**
 * The stage `adjust` of a single charge: discounts, before anything is rounded. What the account of the
 * event is charged, also where several share it, is discounted; payouts, and what a row bills another
 * account, are not (docs/decisions/0395). What holds for a whole period comes when that is billed:
 * `adjust-period.ts`.
 */
export function adjust({ plan }: Prepared, charges: readonly ExactCharge[]): AdjustedCharge[] {
  const { discounts } = plan;
  if (!discounts) return [...charges];
  return charges.map((charge) => {
    if (!charge.isShared || charge.usageType !== 'Charge') return charge;
    const steps = discountSteps(charge.exact(), discounts);
    return { ...charge, adjusted: { steps, net: steps.at(-1)?.after ?? charge.exact() } };
  });
}

const valuesByDiscounts = new WeakMap<readonly PlanDiscount[], readonly Decimal[]>();

/** Read once for each plan: every event needs them. */
function valuesOf(discounts: readonly PlanDiscount[]): readonly Decimal[] {
  const known =
    valuesByDiscounts.get(discounts) ?? discounts.map(({ value }) => new Decimal(value));
  valuesByDiscounts.set(discounts, known);
  return known;
}

const HUNDRED = new Decimal(100);

/**
 * Percents multiply, then amounts come off, and never more than there is. A charge below zero takes back
 * what dearer tiers were charged before, so its percents come off as well, and amounts do not.
 *
 * 120 with 10 %, 5 % and 2.60 off: 120 -> 108 -> 102.60 -> 100.
 */
export function discountSteps(
  exact: Decimal,
  discounts: readonly PlanDiscount[],
): readonly DiscountStep[] {
  const values = valuesOf(discounts);
  let before = exact;
  return discounts.map((discount, index) => {
    const value = values[index] ?? ZERO;
    const after =
      discount.kind === 'discountPercent'
        ? before.times(ONE.minus(value.div(HUNDRED)))
        : before.minus(Decimal.min(value, Decimal.max(before, ZERO)));
    const step = { ...discount, before, after };
    before = after;
    return step;
  });
}

/** What discounts leave of an amount that is rounded already, and what they take off. */
export function discounted(
  amount: Decimal,
  exact: Decimal,
  discounts: readonly PlanDiscount[],
): { readonly amount: Decimal; readonly discount: Decimal } {
  const net = roundAmount(discountSteps(exact, discounts).at(-1)?.after ?? exact);
  return { amount: net, discount: sum([amount, net.negated()]) };
}
