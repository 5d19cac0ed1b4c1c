import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

// spec/beyond.md R284 to R286
describe('discounts', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-03-20' });
  const { tenant } = story;

  const adjust = async (body: object) =>
    (await tenant.post('/v1/adjustments', { from: '2026-03-01', ...body }).expect(201)).body;
  const at = (day: string, calls = 100) => ({
    eventTimestamp: `2026-03-${day}T12:00:00Z`,
    dimensions: { api_calls: String(calls) },
  });

  it('come off each charge, and stand on the invoice with their tax', async () => {
    await story.taxRate('VAT', 20);
    const taxed = usdCard(priceOfEach('api_calls', 1.2, { label: 'API calls', taxCode: 'VAT' }));
    const calls = await story.service('Calls', { rateCards: [taxed] });
    const plan = await story.service('Plan', subscription('Plan', 30));
    const accountId = await story.account('acme');
    const terms = { serviceId: plan, ...every('Monthly') };
    const { id: contractId } = await story.subscribe(accountId, [terms, calls], {
      startDate: '2026-03-01',
    });
    const ten = await adjust({ accountId, kind: 'discountPercent', value: 10 });
    const five = await adjust({
      contractId,
      kind: 'discountPercent',
      value: 5,
      serviceId: calls,
      to: '2026-03-16',
    });
    const off = await adjust({ accountId, kind: 'discountAmount', value: 2.6, currency: 'USD' });
    const [first = '', last = ''] = await story.send(
      usage('acme', calls, at('15')),
      usage('acme', calls, at('16')),
      usage('acme', calls, at('17', 1)),
    );
    // 120 - 10 % = 108, - 5 % = 102.60, - 2.60 = 100.
    const { ratedTransactions } = await story.event(first);
    expect(ratedTransactions).to.have.length(1);
    expect(ratedTransactions[0]).to.include({ amount: 100, discount: 20, matches: true });
    expect(ratedTransactions[0].dimensions[0]).to.include({ calcAmount: 120 });
    const percents = [ten, five].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(
      ratedTransactions[0].explanation.adjustments.map(
        ({ adjustmentId }: { adjustmentId: string }) => adjustmentId,
      ),
    ).to.deep.equal([...percents.map(({ id }) => id), off.id]);
    expect(ratedTransactions[0].explanation.adjustments[2]).to.deep.include({
      kind: 'discountAmount',
      value: '2.6',
      before: '102.6',
      after: '100',
    });
    // The five percent have ended: 120 - 10 % = 108, - 2.60 = 105.40.
    const [later] = (await story.event(last)).ratedTransactions;
    expect(later).to.include({ amount: 105.4, discount: 14.6 });
    const simulated = await tenant
      .post('/v1/usage-events/simulate', { message: usage('acme', calls, at('17', 1)) })
      .expect(200);
    // 1.20 - 10 % = 1.08: no more than that comes off.
    expect(simulated.body.ratedTransactions[0]).to.include({ amount: 0, discount: 1.2 });
    expect(simulated.body.ratedTransactions[0].explanation.total).to.include({ amount: '0' });

    const draft = (await tenant.get('/v1/accounts/acme/next-invoice').expect(200)).body;
    const { invoices, lines } = await story.bill('2026-03', { accountId });
    // The plan costs 30 - 10 % - 2.60 = 24.40; usage 241.20 - 20 - 14.60 - 1.20 = 205.40, 20 % of it 41.08.
    expect(lines).to.deep.equal([
      'API calls 2026-03-15..2026-03-17 241.2',
      'Discount 2026-03-01..2026-03-31 -5.6',
      'Discount 2026-03-15..2026-03-17 -35.8',
      'Plan 2026-03-01..2026-03-31 30',
    ]);
    expect(invoices[0]).to.include({ amount: 229.8, taxAmount: 41.08 });
    expect(draft.invoices[0]).to.include({ amount: 229.8, taxAmount: 41.08 });
    const body = await story.explain(invoices[0]?.id);
    for (const item of body.items) expect(item.matches, item.description).to.equal(true);
    const charged = body.items.find(
      ({ description }: { description: string }) => description === 'Plan',
    );
    expect(charged.charges[0].explanation.total.amount).to.equal('24.4');
    expect(charged.charges[0].explanation.adjustments).to.have.length(2);
  });

  it('hold for what is rated again, and corrections take them back', async () => {
    const calls = await story.service('Calls');
    const accountId = await story.account('acme');
    const [first = '', second = ''] = await story.send(
      usage('acme', calls, at('10')),
      usage('acme', calls, at('11')),
    );
    const discount = { accountId, kind: 'discountPercent', value: 25 };
    await adjust({ ...discount, from: '2026-03-11' });
    const again = async () =>
      (
        await tenant
          .post('/v1/workflows/rerate-usage/execute', {
            data: { from: '2026-03-01', to: '2026-04-01', reason: 'agreed late' },
          })
          .expect(200)
      ).body.output;
    // 100 x 0.01 = 1 each; the second, 0.75 from then on.
    const output = await again();
    expect(output).to.deep.include({
      events: 2,
      changed: 1,
      before: [{ currency: 'USD', amount: 2 }],
      after: [{ currency: 'USD', amount: 1.75 }],
    });
    expect(await again()).to.deep.include({ changed: 0 });
    const charges = await tenant
      .get(`/v1/corrections/${String(output.correctionId)}/charges?explain=true`)
      .expect(200);
    expect(charges.body.data[0].firstDifference.step).to.include('discountPercent');
    expect((await story.event(second)).ratedTransactions[0]).to.include({
      amount: 0.75,
      discount: 0.25,
      matches: true,
    });
    await tenant.post(`/v1/usage-events/${first}/cancel`, { reason: 'sent twice' }).expect(200);
    await tenant.post(`/v1/usage-events/${second}/cancel`, { reason: 'sent twice' }).expect(200);
    const totals = await tenant
      .get('/v1/usage?from=2026-03-01&to=2026-04-01&bucket=none')
      .expect(200);
    expect(totals.body.data.map(({ amount }: { amount: number }) => amount)).to.deep.equal([]);
    const audit = await tenant
      .post('/v1/workflows/audit-usage/execute', {
        data: { periodStart: '2026-03-01', periodEnd: '2026-03-19' },
      })
      .expect(200);
    expect(audit.body.output).to.include({ differenceCount: 0 });
  });
});
