import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import type { PriceAnswer, PricedUsage } from '../price-methods/price-method.js';
import type { Aggregation } from '../types.js';

/**
 * Where a counter stands after a quantity: a sum, the greatest of its period, or the last in the log. One
 * of values goes up by those that it had not counted.
 */
export function aggregate(aggregation: Aggregation, before: Decimal, quantity: Decimal): Decimal {
  if (aggregation === 'MAX') return Decimal.max(before, quantity);
  return aggregation === 'LAST' ? quantity : before.plus(quantity);
}

/**
 * What usage costs that moves an aggregate: price(after) - price(before), where an aggregate of zero costs
 * nothing (docs/decisions/0397). With 0.10 a seat, from 5 to 8 seats 0.30, and from 8 to 6 -0.20.
 */
export function priceDifference(
  price: (usage: PricedUsage) => PriceAnswer,
  before: Decimal,
  after: Decimal,
): PriceAnswer {
  const now = price({ quantity: after, counterBefore: ZERO });
  if (!now.ok) return now;
  const was = price({ quantity: before, counterBefore: ZERO });
  if (!was.ok) return was;
  const amountOf = (value: Decimal, amount: Decimal): Decimal => (value.isZero() ? ZERO : amount);
  const amount = amountOf(after, now.amount).minus(amountOf(before, was.amount));
  const takenBack = (was.tiers ?? []).map((part) => ({
    ...part,
    volume: part.volume.negated(),
    amount: part.amount.negated(),
  }));
  return {
    ok: true,
    rate: now.rate,
    amount,
    ...(now.tiers ? { tiers: [...now.tiers, ...takenBack] } : {}),
    ...(now.packages ? { packages: { ...now.packages, before: was.packages?.after ?? ZERO } } : {}),
  };
}
