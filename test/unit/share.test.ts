import assert from 'node:assert/strict';
import { Decimal, sum } from '../../src/kernel/numbers/money.js';
import { exactPartOf, partOf, stretchesOf } from '../../src/kernel/numbers/share.js';

const thirds = ['a', 'b', 'c'].map((accountId) => ({ accountId, weight: '1' }));

describe('shares of accounts', () => {
  const cases: [whole: string, weights: string[], places: number, expected: string[]][] = [
    // Up to the first third 33.33, up to the second 66.67 (66.666…), then 100.
    ['100', ['1', '1', '1'], 2, ['33.33', '33.34', '33.33']],
    ['0.01', ['1', '1'], 2, ['0.01', '0']],
    // 30.967741935 of 60 and 40 %: 18.580645161 is 18.58; the whole is 30.97.
    ['30.967741935', ['60', '40'], 2, ['18.58', '12.39']],
    ['1', ['1', '1', '1'], 10, ['0.3333333333', '0.3333333334', '0.3333333333']],
    ['7', ['0.5'], 0, ['7']],
  ];
  for (const [whole, weights, places, expected] of cases) {
    it(`divides ${whole} by ${weights.join(', ')}`, () => {
      const shares = weights.map((weight, index) => ({ accountId: `${index}`, weight }));
      const parts = stretchesOf(shares).map((share) => partOf(new Decimal(whole), share, places));
      assert.deepEqual(parts.map(String), expected);
    });
  }

  it('keeps every digit of a whole, and is the same whatever order the shares come in', () => {
    const whole = new Decimal('0.1234567890123456789');
    const parts = stretchesOf(thirds).map((share) => exactPartOf(whole, share));
    assert.equal(String(sum(parts)), String(whole));
    assert.deepEqual(stretchesOf([...thirds].reverse()), stretchesOf(thirds));
  });
});
