import { assert } from 'chai';
import fc from 'fast-check';
import { Decimal, decimalText, sum } from '../../src/kernel/numbers/money.js';
import type { RowFacts } from '../../src/rating/index.js';
import * as make from '../unit/rating/facts.js';

/** Quantities and rates with few digits, so that no charge needs more than 10 places. */
const small = fc.integer({ min: 0, max: 4_000 }).map((n) => new Decimal(n).div(8).toFixed());
const rateText = fc.integer({ min: 0, max: 500 }).map((n) => new Decimal(n).div(100).toFixed());

interface Stair {
  readonly width: number;
  readonly rate: string;
  readonly isFlat: boolean;
}
const stairs: fc.Arbitrary<Stair[]> = fc.array(
  fc.record({ width: fc.integer({ min: 1, max: 200 }), rate: rateText, isFlat: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

/** Adjoining tiers, the last open. */
function tiersOf(steps: readonly Stair[]): make.TierText[] {
  let lower = 0;
  return steps.map(({ width, rate, isFlat }, index): make.TierText => {
    const min = `${lower}`;
    lower += width;
    const max = index === steps.length - 1 ? null : `${lower}`;
    return isFlat ? [min, max, rate, 'flat'] : [min, max, rate];
  });
}

/** The whole volume at the rate of its step, found from above. */
function priceOfWhole(steps: readonly Stair[], volume: Decimal): Decimal {
  if (volume.isZero()) return volume;
  let lower = steps.slice(0, -1).reduce((bound, { width }) => bound + width, 0);
  for (const [index, { rate, isFlat }] of [...steps.entries()].reverse()) {
    if (volume.greaterThan(lower) || index === 0)
      return isFlat ? new Decimal(rate) : volume.times(rate);
    lower -= steps[index - 1]?.width ?? 0;
  }
  return volume;
}

describe('property: prices of whole volumes', () => {
  // spec/rating.md R39, spec/beyond.md R66, R67
  it('costs by volume and in packages what the whole costs, however it is split', () => {
    const quantities = fc.array(small, { minLength: 1, maxLength: 12 });
    const size = fc.integer({ min: 1, max: 400 }).map((n) => new Decimal(n).div(8));
    fc.assert(
      fc.property(stairs, size, rateText, quantities, (steps, packageSize, unitRate, split) => {
        const whole = sum(split.map((text) => new Decimal(text)));
        const rates = { packageSize: packageSize.toFixed(), unitRate };
        const begun = whole.times(8).div(packageSize.times(8)).ceil();
        const prices: [row: RowFacts, expected: Decimal][] = [
          [make.aRow('api_calls', 'PACKAGE', rates), begun.times(unitRate)],
          [
            make.aRow('api_calls', 'VOLUME', make.tiers(...tiersOf(steps))),
            priceOfWhole(steps, whole),
          ],
        ];
        for (const [row, expected] of prices) {
          const context = make.withRows([row], { attributes: [make.aMeter('api_calls')] });
          for (const order of [split, [...split].reverse(), [whole.toFixed()]]) {
            const counters: make.Counters = new Map();
            const charges = order.map((quantity) => {
              const event = make.anEvent({ dimensions: { api_calls: quantity } });
              return new Decimal(make.amountOf(make.rate(event, context, counters)));
            });
            assert.equal(decimalText(sum(charges)), decimalText(expected));
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  // spec/beyond.md R66, R67
  it('costs without a meter what each event costs by itself', () => {
    const quantities = fc.array(small, { minLength: 1, maxLength: 6 });
    const size = fc.integer({ min: 1, max: 400 }).map((n) => new Decimal(n).div(8));
    fc.assert(
      fc.property(stairs, size, rateText, quantities, (steps, packageSize, unitRate, split) => {
        const rates = { packageSize: packageSize.toFixed(), unitRate };
        const priceOfPackages = (volume: Decimal): Decimal => {
          let packages = 0;
          while (packageSize.times(packages).lessThan(volume)) packages += 1;
          return new Decimal(unitRate).times(packages);
        };
        const prices: [row: RowFacts, priceOf: (volume: Decimal) => Decimal][] = [
          [make.aRow('api_calls', 'PACKAGE', rates), priceOfPackages],
          [
            make.aRow('api_calls', 'VOLUME', make.tiers(...tiersOf(steps))),
            (volume) => priceOfWhole(steps, volume),
          ],
        ];
        for (const [row, priceOf] of prices) {
          const context = make.withRows([row]);
          const counters: make.Counters = new Map();
          for (const quantity of split) {
            const event = make.anEvent({ dimensions: { api_calls: quantity } });
            const charge = make.amountOf(make.rate(event, context, counters));
            assert.equal(
              decimalText(new Decimal(charge)),
              decimalText(priceOf(new Decimal(quantity))),
            );
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
