import { Type } from 'typebox';
import { ZERO, type Decimal } from '../../kernel/numbers/money.js';
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
 * The whole volume at the rate of the tier that it falls in. Tiers cover (min, max]. Of a metered
 * attribute the charge is price(counter + quantity) - price(counter): where a volume reaches a cheaper
 * tier, that may be below zero, and all charges of a period are what its volume costs.
 */
export const volume = priceMethod({
  name: 'VOLUME',
  rates: Type.Object({ ...tierRates, ...meterRates }),
  price: (rates, usage) => priceVolume(rates.rateCardTiers, usage),
  check: (rates) => checkTiers(rates.rateCardTiers),
});

function priceVolume(tiers: readonly Tier[], usage: PricedUsage): PriceAnswer {
  const { quantity, counterBefore: before } = usage;
  const after = before.plus(quantity);
  const last = tiers.at(-1)?.tierMaxVal ?? null;
  if (last !== null && after.greaterThan(last) && !quantity.isZero()) {
    return { ok: false, volume: after, volumeMax: last };
  }
  if (quantity.isZero()) return tieredResult(ZERO, quantity, []);
  const parts = [...priceWhole(tiers, after), ...priceWhole(tiers, before).map(takeBack)];
  const amount = parts.reduce((sum, part) => sum.plus(part.amount), ZERO);
  return tieredResult(amount, quantity, parts);
}

/** The tier that a volume falls in, with all of the volume; none below the first. */
function priceWhole(tiers: readonly Tier[], whole: Decimal): TierPart[] {
  if (whole.lessThanOrEqualTo(firstBound(tiers[0]))) return [];
  const isIn = ({ tierMaxVal }: Tier) => !tierMaxVal || whole.lessThanOrEqualTo(tierMaxVal);
  const tier = tiers.find(isIn);
  if (!tier) return [];
  const { tierNum, tierUnitRate: unitRate, flatRate: isFlat = false } = tier;
  const amount = isFlat ? unitRate : unitRate.times(whole);
  return [{ tierNum, from: ZERO, to: whole, volume: whole, unitRate, isFlat, amount }];
}

/** What the volume before has cost. */
const takeBack = (part: TierPart): TierPart => ({
  ...part,
  volume: part.volume.negated(),
  amount: part.amount.negated(),
});
