import { assert } from 'chai';
import { explain, prepare } from '../../../src/rating/index.js';
import { aMeter, amountOf, anEvent, aRow, decimal, rate, rateAmount } from './facts.js';
import { withRows, type Counters } from './facts.js';

const thousand = { packageSize: '1000', unitRate: '5' };

describe('rating/PACKAGE', () => {
  const cases: [rates: object, quantity: string, expected: string][] = [
    [thousand, '0', '0'],
    [thousand, '1', '5'],
    [thousand, '1000', '5'],
    [thousand, '1000.001', '10'],
    // 3 begun packages of 5
    [thousand, '2001', '15'],
    // 0.25 / 0.1 = 2.5: 3 begun packages
    [{ packageSize: '0.1', unitRate: '0.01' }, '0.25', '0.03'],
    // 0.3 / 0.1 = 3, where floats give 2.9999999999999996 and 4 begun
    [{ packageSize: '0.1', unitRate: '0.01' }, '0.3', '0.03'],
    // one more than 12345678901234567890 packages of 3
    [{ packageSize: '3', unitRate: '1' }, '37037036703703703671', '12345678901234567891'],
    [{ packageSize: '10', unitRate: '0' }, '25', '0'],
    // Rates that no card may be written with reject.
    [{ unitRate: '5' }, '1', 'NO_RATE_CARD'],
  ];
  for (const [rates, quantity, expected] of cases) {
    // spec/beyond.md R67
    it(`${JSON.stringify(rates)} of ${quantity} is ${expected}`, () => {
      const rows = withRows([aRow('api_calls', 'PACKAGE', rates)]);
      assert.equal(rateAmount({ dimensions: { api_calls: quantity } }, rows), expected);
    });
  }

  const sequences: [quantities: string[], expected: string[]][] = [
    // The first begins a package, the second fills it, the third begins the second.
    [
      ['400', '600', '1'],
      ['5', '0', '5'],
    ],
    // 0 -> 2500: 3 packages; 2500 -> 3000: none; 3000 -> 5001: 6 - 3
    [
      ['2500', '500', '2001', '0'],
      ['15', '0', '15', '0'],
    ],
  ];
  for (const [quantities, expected] of sequences) {
    // spec/rating.md R33, R38, spec/beyond.md R67
    it(`metered: ${quantities.join(', ')}`, () => {
      const row = aRow('api_calls', 'PACKAGE', thousand);
      const context = withRows([row], { attributes: [aMeter('api_calls')] });
      const counters: Counters = new Map();
      const amounts = quantities.map((quantity) =>
        amountOf(rate(anEvent({ dimensions: { api_calls: quantity } }), context, counters)),
      );
      assert.deepEqual(amounts, expected);
    });
  }

  // spec/rating.md R65
  it('explains how many packages were begun before, and with the usage', () => {
    const row = aRow('api_calls', 'PACKAGE', thousand);
    const context = withRows([row], { attributes: [aMeter('api_calls')] });
    const prepared = prepare(anEvent({ dimensions: { api_calls: '2001' } }), context);
    assert.isTrue(prepared.ok);
    if (!prepared.ok) return;
    const explained = explain(prepared, { get: () => decimal('3000') });
    const [shown] = explained.ok ? (explained.explanations[0]?.rows ?? []) : [];
    assert.deepEqual(shown?.packages, { size: '1000', before: '3', after: '6' });
    assert.equal(shown?.rate, '5');
    assert.equal(shown?.amount, '15');
  });
});
