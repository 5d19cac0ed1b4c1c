import { Type, type Static } from 'typebox';
import { DecimalValue } from '../../kernel/numbers/decimal-value.js';
import { decimalText, ONE, roundAmount, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { Picklist } from '../../kernel/picklist-field.js';
import type { PriceResult, TierPart } from './price-method.js';

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
export type Tier = Static<typeof Tier>;

/** What price methods with tiers have in common. */
export const tierRates = {
  rateCardTiers: Type.Array(Tier, { minItems: 1, description: 'Tiers in the order of tierNum.' }),
};

/** What price methods have that price the volume of a period. */
export const meterRates = {
  resetFrequency: Type.Optional(
    Picklist('meterResetFrequency', {
      description: 'How often the counter starts again; overrides that of the attribute.',
    }),
  ),
};

/** The rate is the average of all units. */
export function tieredResult(
  amount: Decimal,
  volume: Decimal,
  tiers: readonly TierPart[],
): PriceResult {
  return { ok: true, rate: averageRate(amount, volume, tiers), amount, tiers };
}

/** Words of seven digits each: the product of two such numbers is exact. */
const exactWords = 4;

function averageRate(amount: Decimal, volume: Decimal, tiers: readonly TierPart[]): Decimal {
  if (volume.isZero() || amount.isZero()) return ZERO;
  const [only] = tiers;
  const isOne = tiers.length === 1 && only?.isFlat === false && only.volume.equals(volume);
  // All of it at one rate: a division by the volume gives that rate again.
  const isExact =
    isOne &&
    only.amount.equals(amount) &&
    only.unitRate.d.length <= exactWords &&
    volume.d.length <= exactWords;
  return roundAmount(isExact ? only.unitRate : amount.div(volume));
}

/** Where tiers begin: 1 is the whole-number way of writing zero; nothing below is priced. */
export function firstBound(tier: Tier | undefined): Decimal {
  const start = tier?.tierMinVal ?? ZERO;
  return start.equals(ONE) ? ZERO : start;
}

export function checkTiers(tiers: readonly Tier[]): string[] {
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
