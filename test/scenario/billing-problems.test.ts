import { expect } from 'chai';
import type { RunOutput } from '../support/billing/billing-run.js';
import { usage } from '../support/billing/usage.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

const taxed = (taxCode: string) => ({
  rateCards: [usdCard(priceOfEach('api_calls', 0.1, { label: 'API calls', taxCode }))],
});

describe('what a billing run says of what it left out', () => {
  const story = useStory({ forEachTest: true });

  // spec/beyond.md R14
  it('an account that is exempt pays no tax, and its neighbour does', async () => {
    await story.taxRate('VAT', 20);
    const service = await story.service('Calls', taxed('VAT'));
    const exempt = await story.account('charity', { profile: { taxExempt: true } });
    await story.account('firm', { profile: { taxExempt: false } });
    await story.send(usage('charity', service), usage('firm', service));
    const { run, invoices } = await story.bill('2026-03');
    expect(run.problems).to.deep.equal([]);
    // 100 x 0.1 = 10, and 20 % of that.
    const taxes = invoices.map(({ accountId, amount, taxAmount }) => [
      accountId === exempt,
      amount,
      taxAmount,
    ]);
    expect(taxes.sort()).to.deep.equal([
      [false, 10, 2],
      [true, 10, 0],
    ]);
  });

  // spec/flows.md R37
  it('a tax code that no tax rate has is told once for an account, dry or not', async () => {
    const service = await story.service('Calls', taxed('GST'));
    const accountId = await story.account('firm');
    await story.send(usage('firm', service), usage('firm', service));
    const dry = await story.preview('2026-03');
    const { run } = await story.bill('2026-03');
    expect(run).to.include({ invoiceCount: 1, problemCount: 1 });
    expect(run.problems).to.deep.equal(dry.problems);
    expect(run.problems[0]).to.include({ accountId, code: 'TAX_RATE_MISSING' });
    expect(run.problems[0]?.message).to.include("'API calls' has the tax code 'GST'");
  });

  // spec/flows.md R38
  it('rejected events of the period are counted by reason, of a named account its own', async () => {
    const service = await story.service('Calls');
    const firm = await story.account('firm');
    const other = await story.account('other');
    const bad = { dimensions: { api_calls: 'many' } };
    await story.send(
      usage('firm', service, bad),
      usage('firm', service, bad),
      usage('nobody', service),
      // Of another period.
      usage('firm', service, { ...bad, eventTimestamp: '2026-04-01T00:00:00Z' }),
    );
    const counts = ({ problems }: RunOutput) => problems.map(({ code, events }) => [code, events]);
    expect(counts(await story.preview('2026-03'))).to.deep.equal([
      ['ACCOUNT_NOT_FOUND', 1],
      ['INVALID_DIMENSION', 2],
    ]);
    expect(counts((await story.bill('2026-03', { accountId: firm })).run)).to.deep.equal([
      ['INVALID_DIMENSION', 2],
    ]);
    expect(counts((await story.bill('2026-03', { accountId: other })).run)).to.deep.equal([]);
  });
});
