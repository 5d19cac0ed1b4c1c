import { assert } from 'chai';
import { explain, prepare } from '../../../src/rating/index.js';
import { volume } from '../../../src/rating/price-methods/volume.js';
import { aMeter, amountOf, anEvent, aRow, decimal, rate, rateAmount } from './facts.js';
import { tiers, withRows, type Counters, type TierText } from './facts.js';

/** To 100 at 1, to 1,000 at 0.80, above at 0.50. */
const falling: TierText[] = [
  ['0', '100', '1'],
  ['100', '1000', '0.8'],
  ['1000', null, '0.5'],
];
/** 20 in all for up to 10, then 3 each; closed at 50. */
const closed: TierText[] = [
  ['1', '10', '20', 'flat'],
  ['11', '50', '3'],
];
const fromTen: TierText[] = [
  ['10', '20', '2'],
  ['20', null, '1'],
];

describe('rating/VOLUME', () => {
  const cases: [name: string, of: TierText[], quantity: string, expected: string][] = [
    ['nothing', falling, '0', '0'],
    ['in the first tier', falling, '99', '99'],
    ['at its end', falling, '100', '100'],
    // 100.5 * 0.8 = 80.4: the whole volume, less than 100 cost
    ['just above it', falling, '100.5', '80.4'],
    ['at the end of the second', falling, '1000', '800'],
    // 1500 * 0.5
    ['in the last', falling, '1500', '750'],
    ['a flat band', closed, '0.5', '20'],
    ['a flat band, whole', closed, '10', '20'],
    // 11 * 3
    ['behind a flat band', closed, '11', '33'],
    ['at a closed end', closed, '50', '150'],
    ['above a closed end', closed, '50.001', 'VOLUME_ABOVE_TIERS'],
    ['below the first tier', fromTen, '10', '0'],
    // 11 * 2: the whole volume, also what is below the first tier
    ['above the start of the first', fromTen, '11', '22'],
  ];
  for (const [name, of, quantity, expected] of cases) {
    // spec/beyond.md R66
    it(`${name}: ${quantity} costs ${expected}`, () => {
      const rows = withRows([aRow('api_calls', 'VOLUME', tiers(...of))]);
      assert.equal(rateAmount({ dimensions: { api_calls: quantity } }, rows), expected);
    });
  }

  const sequences: [name: string, of: TierText[], quantities: string[], expected: string[]][] = [
    // 60; 100 - 60; 101 * 0.8 - 100 = -19.2; 102 * 0.8 - 80.8
    ['into a cheaper tier', falling, ['60', '40', '1', '1'], ['60', '40', '-19.2', '0.8']],
    ['at once', falling, ['102'], ['81.6']],
    // 20; 20 - 20; 12 * 3 - 20
    ['out of a flat band', closed, ['5', '5', '2'], ['20', '0', '16']],
    ['above a closed end', closed, ['50', '1', '0'], ['150', 'VOLUME_ABOVE_TIERS', '0']],
  ];
  for (const [name, of, quantities, expected] of sequences) {
    // spec/rating.md R33, R38, spec/beyond.md R66
    it(`metered, ${name}: ${quantities.join(', ')}`, () => {
      const row = aRow('api_calls', 'VOLUME', tiers(...of));
      const context = withRows([row], { attributes: [aMeter('api_calls')] });
      const counters: Counters = new Map();
      const amounts = quantities.map((quantity) =>
        amountOf(rate(anEvent({ dimensions: { api_calls: quantity } }), context, counters)),
      );
      assert.deepEqual(amounts, expected);
    });
  }

  // spec/rating.md R65
  it('explains what the volume costs, and what of it was charged before', () => {
    const row = aRow('api_calls', 'VOLUME', tiers(...falling));
    const context = withRows([row], { attributes: [aMeter('api_calls')] });
    const prepared = prepare(anEvent({ dimensions: { api_calls: '1' } }), context);
    assert.isTrue(prepared.ok);
    if (!prepared.ok) return;
    const explained = explain(prepared, { get: () => decimal('100') });
    const [shown] = explained.ok ? (explained.explanations[0]?.rows ?? []) : [];
    assert.deepEqual(shown?.tiers, [
      {
        tierNum: 2,
        from: '0',
        to: '101',
        volume: '101',
        unitRate: '0.8',
        isFlat: false,
        amount: '80.8',
      },
      {
        tierNum: 1,
        from: '0',
        to: '100',
        volume: '-100',
        unitRate: '1',
        isFlat: false,
        amount: '-100',
      },
    ]);
    assert.equal(shown?.amount, '-19.2');
  });

  // spec/rating.md R32
  it('checks its tiers as TIERED does', () => {
    const [first, gap] = [
      {
        tierNum: 1,
        tierMinVal: decimal('0'),
        tierMaxVal: decimal('10'),
        tierUnitRate: decimal('1'),
      },
      { tierNum: 2, tierMinVal: decimal('12'), tierUnitRate: decimal('1') },
    ];
    assert.deepEqual(volume.check({ rateCardTiers: [first, gap] }), [
      'tierMinVal of tier 2 must be 10 or 11, to adjoin the tier before',
    ]);
  });
});
