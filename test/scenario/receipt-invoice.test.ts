import { expect } from 'chai';
import { attribute, priceOfEach, usdCard } from '../support/story/prices.js';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

/** From a receipt up to what bills it, and across to what it was before. */
describe('a receipt', () => {
  const story = useStory({ forEachTest: true });
  const { tenant } = story;
  const chargeOf = async (id: string, query = '?invoices=true') =>
    (await tenant.get(`/v1/usage-events/${id}${query}`).expect(200)).body.ratedTransactions[0];
  const placeOf = async (id: string) => {
    const { invoice } = await chargeOf(id);
    if (invoice === null) return null;
    const items = (invoice.items as { description: string }[]).map((item) => item.description);
    return [invoice.invoiceNo as string, ...items];
  };

  // spec/beyond.md R484
  it('names the invoice that bills it, with the items that it is part of', async () => {
    await story.account('acme');
    const both = await story.service('Messages', {
      priceableAttributes: [attribute('texts'), attribute('calls')],
      rateCards: [usdCard(priceOfEach('texts', 1), priceOfEach('calls', 2))],
    });
    const at = (externalTransactionId: string, day: string) =>
      usage('acme', both, {
        externalTransactionId,
        eventTimestamp: `${day}T10:00:00Z`,
        dimensions: { texts: '3', calls: '4' },
      });
    await story.send(at('early', '2026-02-10'), at('late', '2026-03-10'));
    expect(await placeOf('late')).to.equal(null);
    expect(await chargeOf('late', '')).to.not.have.property('invoice');
    await story.bill('2026-02');
    expect(await placeOf('early')).to.deep.equal(['INV-000001', 'calls', 'texts']);
    expect(await placeOf('late')).to.equal(null);
    const { invoices } = await story.bill('2026-03');
    expect(await placeOf('late')).to.deep.equal(['INV-000002', 'calls', 'texts']);
    // What was void is billed by the next run.
    await story.voidInvoice(invoices[0]?.id);
    expect(await placeOf('late')).to.equal(null);
    await story.bill('2026-03');
    expect(await placeOf('late')).to.deep.equal(['INV-000003', 'calls', 'texts']);
  });

  // spec/beyond.md R571
  it('says where and at what a charge was billed that is corrected and waits', async () => {
    await story.account('acme');
    const calls = await story.service('Calls');
    const sent = (api_calls: string) =>
      usage('acme', calls, {
        externalTransactionId: 'read',
        eventTimestamp: '2026-03-10T00:00:00Z',
        dimensions: { api_calls },
      });
    await story.send(sent('300'));
    const amend = (api_calls: string) =>
      tenant
        .post('/v1/usage-events/read/amend', { reason: 'Read twice.', message: sent(api_calls) })
        .expect(200);
    await amend('200');
    // Corrected before it was billed: no invoice has what it was.
    expect(await chargeOf('read')).to.include({ invoice: null, billedBefore: null });
    const { invoices } = await story.bill('2026-03');
    // At 0.01: billed at 2.00; 1.50, then 1.75 now.
    await amend('150');
    await amend('175');
    const { amount, invoice, billedBefore } = await chargeOf('read');
    expect([amount, invoice]).to.deep.equal([1.75, null]);
    expect(billedBefore).to.include({
      id: invoices[0]?.id,
      invoiceNo: 'INV-000001',
      amount: 2,
      difference: -0.25,
    });
    expect(billedBefore.items).to.have.length(1);
    expect(await chargeOf('read', '')).to.not.have.property('billedBefore');
    // The next invoice has both, and the receipt says that alone.
    await story.send(usage('acme', calls, { eventTimestamp: '2026-03-12T00:00:00Z' }));
    await story.bill('2026-03');
    const later = await chargeOf('read');
    expect([later.invoice.invoiceNo, later.billedBefore]).to.deep.equal(['INV-000002', null]);
  });

  // spec/beyond.md R484
  it('leads to what a correction made of it alone', async () => {
    await story.account('acme');
    const calls = await story.service('Calls');
    const [first = '', second = ''] = await story.send(usage('acme', calls), usage('acme', calls));
    await tenant
      .post(`${external}/services/${calls}/rate-cards/USD/versions`, {
        ...usdCard(priceOfEach('api_calls', 0.03)),
        fromDate: '2026-01-01',
      })
      .expect(201);
    const data = { from: '2026-03-01', to: '2026-04-01', reason: 'A wrong price.' };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    const { correction } = await chargeOf(first);
    expect(correction).to.include({ id: body.output.correctionId, reason: 'A wrong price.' });
    const path = `/v1/corrections/${correction.id as string}/charges`;
    const { body: all } = await tenant.get(path).expect(200);
    expect(all.pagination.total).to.equal(2);
    for (const externalId of [first, second]) {
      const { id } = await story.event(externalId);
      const { body: own } = await tenant.get(`${path}?explain=true&eventId=${id}`).expect(200);
      expect(own.pagination.total).to.equal(1);
      // 100 x 0.01 = 1 and 100 x 0.03 = 3
      expect(own.data[0]).to.include({ eventId: id, before: 1, after: 3 });
      expect(own.data[0].firstDifference).to.not.equal(null);
    }
  });
});
