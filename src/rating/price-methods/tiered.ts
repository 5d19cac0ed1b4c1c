import { Type } from 'typebox';
import { compareDecimals, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { priceMethod, type PriceAnswer, type PricedUsage, type TierPart } from './price-method.js';
import {
  checkTiers,
  firstBound,
  meterRates,
  tieredResult,
  tierRates,
  type Tier,
} from './tier-rates.js';

/**
 * Graduated tiers: each prices the part of the volume that lies in it. Tiers cover (min, max]. Of a
 * metered attribute the charge is price(counter + quantity) - price(counter), found by pricing only
 * the stretch between the two, so that any split of a volume costs what the whole costs.
 */
export const tiered = priceMethod({
  name: 'TIERED',
  rates: Type.Object({ ...tierRates, ...meterRates }),
  price: (rates, usage) => priceTiers(rates.rateCardTiers, usage),
  check: (rates) => checkTiers(rates.rateCardTiers),
});

function priceTiers(tiers: readonly Tier[], usage: PricedUsage): PriceAnswer {
  const before = usage.counterBefore;
  const after = before.plus(usage.quantity);
  const parts: TierPart[] = [];
  let amount = ZERO;
  let lower = firstBound(tiers[0]);
  for (const tier of tiers) {
    const upper = tier.tierMaxVal ?? null;
    if (upper === null || compareDecimals(upper, before) > 0) {
      const isWithin = upper === null || compareDecimals(after, upper) <= 0;
      const isEntered = compareDecimals(before, lower) <= 0;
      const from = isEntered ? lower : before;
      const to = isWithin ? after : upper;
      if (compareDecimals(to, from) > 0) {
        const part = priceTier(tier, from, to, isEntered);
        parts.push(part);
        amount = parts.length === 1 ? part.amount : amount.plus(part.amount);
      }
      if (isWithin) return tieredResult(amount, usage.quantity, parts);
    }
    lower = upper;
  }
  // No usage at all is never above the tiers, wherever the counter stands.
  if (compareDecimals(after, lower) > 0 && !usage.quantity.isZero()) {
    return { ok: false, volume: after, volumeMax: lower };
  }
  return tieredResult(amount, usage.quantity, parts);
}

function priceTier(tier: Tier, from: Decimal, to: Decimal, isEntered: boolean): TierPart {
  const volume = to.minus(from);
  const isFlat = tier.flatRate ?? false;
  const flatAmount = isEntered ? tier.tierUnitRate : ZERO;
  const amount = isFlat ? flatAmount : tier.tierUnitRate.times(volume);
  const { tierNum, tierUnitRate: unitRate } = tier;
  return { tierNum, from, to, volume, unitRate, isFlat, amount };
}
