import { expect } from 'chai';
import type { Explanation as Shown } from '../../src/console/receipts/explanation.js';
import { explain, prepare, type Explanation } from '../../src/rating/index.js';
import { anEvent, aMeter, aRow, tiers, withRows } from './rating/facts.js';

/** Compiles only while rating writes what receipts show (decision 0405). */
const shownOf = (written: Explanation): Shown => written;

describe('the console of explanations', () => {
  it('has what rating writes of counters, tiers and totals', () => {
    const rows = [aRow('api_calls', 'TIERED', tiers(['0', '60', '0'], ['60', null, '0.5']))];
    const context = withRows(rows, { attributes: [aMeter('api_calls')] });
    const prepared = prepare(anEvent(), context);
    const explained = prepared.ok ? explain(prepared, new Map()) : prepared;
    const [explanation] = explained.ok ? explained.explanations : [];
    if (!explanation) throw new Error('The event has no charge.');
    const { rows: shownRows, total } = shownOf(explanation);
    expect(shownRows[0]?.counter).to.include({ before: '0', after: '100' });
    // 60 are free, the other 40 cost 0.5 each.
    expect(shownRows[0]?.tiers.map(({ from, to, amount }) => [from, to, amount])).to.deep.equal([
      ['0', '60', '0'],
      ['60', '100', '20'],
    ]);
    expect(total).to.include({ amount: '20', currency: 'USD' });
  });
});
