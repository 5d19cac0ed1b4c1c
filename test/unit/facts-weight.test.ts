import { assert } from 'chai';
import { weighFacts } from '../../src/queries/usage/facts-weight.js';

describe('the weight of remembered facts', () => {
  const row = { id: 'r', rates: { rateCardTiers: [{ tierNum: 1, tierUnitRate: '1' }] } };
  const lineOf = (rows: number) => ({ id: 'l', cards: [{ id: 'c', rows: Array(rows).fill(row) }] });

  it('grows with what a line carries, and not only with lines', async () => {
    const few = await weighFacts({ lines: [lineOf(1)] });
    const many = await weighFacts({ lines: [lineOf(1_001)] });
    // A row: itself, its rates, a list of tiers and a tier are 56 each; texts, members and a number.
    assert.isAtLeast(many - few, 1_000 * 4 * 56);
    assert.isAtMost(many - few, 1_000 * 500);
  });

  it('counts texts by their length, and formulas as they are when parsed', async () => {
    assert.equal(await weighFacts({ name: 'x'.repeat(100) }), 56 + 8 + 24 + 100);
    assert.equal(await weighFacts({ formula: 'x'.repeat(100) }), 56 + 8 + 24 + 1_000);
  });
});
