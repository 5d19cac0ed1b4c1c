import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import {
  compareDecimals,
  decimalText,
  ONE,
  roundAmount,
  ZERO,
  type Decimal,
} from '../../kernel/numbers/money.js';
import { Picklist } from '../../kernel/picklist-field.js';
import { priceMethod, type PriceAnswer, type PricedUsage, type TierPart } from './price-method.js';

const Tier = Type.Object(
  {
    tierNum: Type.Integer({ description: 'Position of the tier; tiers are sent in this order.' }),
    tierMinVal: DecimalValue({
      description:
        'Where the tier starts: the previous tierMaxVal, or that plus 1 in whole-number writing.',
      minimum: '0',
    }),
    tierMaxVal: Type.Optional(
      Type.Union([DecimalValue({ description: 'Last volume of the tier.' }), Type.Null()], {
        description: 'Last volume of the tier, inclusive; null for the last tier without an end.',
      }),
    ),
    tierUnitRate: DecimalValue({
      description: 'Amount per unit in the tier, or of the whole band when flatRate is true.',
    }),
    flatRate: Type.Optional(
      Type.Boolean({
        description: 'Whether the band costs tierUnitRate once, when the volume enters it.',
      }),
    ),
  },
  { additionalProperties: false },
);
type Tier = Static<typeof Tier>;

/**
 * Graduated tiers (packages are a formula, see docs/guide/prices.md): each prices the part of the volume that lies in it. Tiers cover (min, max]. Of a
 * metered attribute the charge is price(counter + quantity) - price(counter), found by pricing only
 * the stretch between the two, so that any split of a volume costs what the whole costs.
 */
export const tiered = priceMethod({
  name: 'TIERED',
  rates: Type.Object({
    rateCardTiers: Type.Array(Tier, { minItems: 1, description: 'Tiers in the order of tierNum.' }),
    resetFrequency: Type.Optional(
      Picklist('meterResetFrequency', {
        description: 'How often the counter starts again; overrides that of the attribute.',
      }),
    ),
  }),
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

function tieredResult(amount: Decimal, volume: Decimal, tiers: readonly TierPart[]): PriceAnswer {
  return { ok: true, rate: averageRate(amount, volume, tiers), amount, tiers };
}

/** Words of seven digits each: the product of two such numbers is exact. */
const exactWords = 4;

function averageRate(amount: Decimal, volume: Decimal, tiers: readonly TierPart[]): Decimal {
  if (volume.isZero() || amount.isZero()) return ZERO;
  const [only] = tiers;
  const isOne = tiers.length === 1 && only?.isFlat === false && only.volume.equals(volume);
  // All of it at one rate: a division by the volume gives that rate again.
  const isExact = isOne && only.unitRate.d.length <= exactWords && volume.d.length <= exactWords;
  return roundAmount(isExact ? only.unitRate : amount.div(volume));
}

/** 1 is the whole-number way of writing zero; below a greater start nothing is priced. */
function firstBound(tier: Tier | undefined): Decimal {
  const start = tier?.tierMinVal ?? ZERO;
  return start.equals(ONE) ? ZERO : start;
}

function checkTiers(tiers: readonly Tier[]): string[] {
  const problems: string[] = [];
  let previous: Tier | undefined;
  for (const tier of tiers) {
    const name = `tier ${tier.tierNum}`;
    if (previous && tier.tierNum <= previous.tierNum) {
      problems.push(`${name} must not come after tier ${previous.tierNum}: order tiers by tierNum`);
    }
    const lower = previous ? previous.tierMaxVal : firstBound(tier);
    if (lower === null || lower === undefined) {
      problems.push(
        `tierMaxVal of tier ${previous?.tierNum} may not be open: only the last may be`,
      );
    } else {
      const start = tier.tierMinVal;
      if (previous && !start.equals(lower) && !start.equals(lower.plus(ONE))) {
        const [text, next] = [decimalText(lower), decimalText(lower.plus(ONE))];
        problems.push(
          `tierMinVal of ${name} must be ${text} or ${next}, to adjoin the tier before`,
        );
      }
      if (tier.tierMaxVal && tier.tierMaxVal.lessThanOrEqualTo(lower)) {
        problems.push(`tierMaxVal of ${name} must be greater than ${decimalText(lower)}`);
      }
    }
    previous = tier;
  }
  return problems;
}
