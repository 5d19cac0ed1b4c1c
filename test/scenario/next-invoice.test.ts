import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { usage } from '../support/billing/usage.js';
import { every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** What a draft has not in common with the invoice that is posted. */
const ofPosted = ['id', 'invoiceId', 'invoiceNo', 'invoiceStatus', 'approvalStatus', 'executionId'];
const notCompared = new Set([...ofPosted, 'invoiceFileName']);

const common = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !notCompared.has(name)));

function comparable(invoice: Record<string, unknown>) {
  return { ...common(invoice), items: (invoice['items'] as Record<string, unknown>[]).map(common) };
}

// spec/beyond.md R240 to R242
describe('the next invoice of an account', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-03-20' });
  const { tenant } = story;

  const next = async (account: string) =>
    (await tenant.get(`/v1/accounts/${account}/next-invoice`).expect(200)).body;

  it('is what a run makes then, with items and taxes', async () => {
    await story.taxRate('VAT', 20);
    const taxed = usdCard(priceOfEach('api_calls', 0.1, { label: 'API calls', taxCode: 'VAT' }));
    const calls = await story.service('Calls', { rateCards: [taxed] });
    const plan = await story.service('Plan', subscription('Plan', 30));
    const accountId = await story.account('acme', { netTerm: 'Net 30' });
    const line = { serviceId: plan, ...every('Monthly') };
    await story.subscribe(accountId, [line], { startDate: '2026-03-01' });
    const inMarch = (day: string) => ({ eventTimestamp: `2026-03-${day}T00:00:00Z` });
    await story.send(
      usage('acme', calls, inMarch('01')),
      usage('acme', calls, inMarch('20')),
      // Usage that no invoice has, of a month before, and of the next one.
      usage('acme', calls, { eventTimestamp: '2026-02-28T00:00:00Z' }),
      usage('acme', calls, { eventTimestamp: '2026-04-01T00:00:00Z' }),
    );
    const draft = await next('acme');
    expect(draft).to.deep.include({
      accountId,
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
      invoiceDate: '2026-03-20',
      rejected: [],
      pending: 0,
      problems: [],
    });
    expect(draft.invoices).to.have.length(1);
    // Three events of 100 x 0.1 and the plan: 30 + 30; tax of 20 % on the usage alone.
    expect(draft.invoices[0]).to.include({
      invoiceNo: null,
      invoiceStatus: 'Draft',
      currency: 'USD',
      amount: 60,
      taxAmount: 6,
      total: 66,
      dueDate: '2026-04-19',
    });
    expect(await next(accountId)).to.deep.include({ pending: 0 });

    const { run, invoices } = await story.bill('2026-03', { accountId });
    expect(run.invoiceCount).to.equal(1);
    const [posted] = invoices as unknown as Record<string, unknown>[];
    expect(comparable(draft.invoices[0])).to.deep.equal(comparable(posted ?? {}));
    // What is billed is on no draft.
    expect((await next('acme')).invoices).to.deep.equal([]);
  });

  it('has usage that is rejected beside it, and what the run would report', async () => {
    const calls = await story.service('Calls', {
      rateCards: [usdCard(priceOfEach('api_calls', 0.1, { label: 'API calls', taxCode: 'GST' }))],
    });
    await story.account('acme');
    await story.account('other');
    const bad = { dimensions: { api_calls: 'many' } };
    await story.send(
      usage('acme', calls),
      usage('acme', calls, bad),
      usage('acme', calls, bad),
      usage('other', calls, bad),
      usage('acme', calls, { ...bad, eventTimestamp: '2026-04-01T00:00:00Z' }),
    );
    const draft = await next('acme');
    expect(draft.rejected).to.deep.equal([{ code: 'INVALID_DIMENSION', events: 2 }]);
    expect(draft.problems.map(({ code }: { code: string }) => code)).to.deep.equal([
      'TAX_RATE_MISSING',
    ]);
    expect(draft.invoices[0]).to.include({ amount: 10, taxAmount: 0 });
  });

  // spec/beyond.md R570
  it('says what corrections owe the account while nothing else is billed', async () => {
    const calls = await story.service('Calls');
    await story.account('acme');
    // At 0.01: 3.00, and 1.00 after the correction.
    const sent = (api_calls: string) =>
      usage('acme', calls, {
        externalTransactionId: 'read',
        eventTimestamp: '2026-03-10T00:00:00Z',
        dimensions: { api_calls },
      });
    await story.send(sent('300'));
    const { invoices } = await story.bill('2026-03');
    expect((await next('acme')).waiting).to.deep.equal([]);
    await tenant
      .post('/v1/usage-events/read/amend', { reason: 'Read twice.', message: sent('100') })
      .expect(200);
    const draft = await next('acme');
    expect(draft.invoices).to.deep.equal([]);
    expect(draft.waiting).to.deep.equal([
      {
        correctedInvoiceId: invoices[0]?.id,
        correctedInvoiceNo: 'INV-000001',
        currency: 'USD',
        amount: -2,
      },
    ]);
    await story.send(usage('acme', calls, { eventTimestamp: '2026-03-12T00:00:00Z' }));
    const lowered = await next('acme');
    // 100 more at 0.01, and 2.00 back.
    expect(lowered.waiting).to.deep.equal([]);
    expect(lowered.invoices).to.have.length(1);
  });

  it('is empty where nothing is to be billed, and 404 of no account', async () => {
    const accountId = await story.account('acme');
    expect((await next('acme')).invoices).to.deep.equal([]);
    for (const unknown of [newId(), 'nobody', '%00']) {
      const { body } = await tenant.get(`/v1/accounts/${unknown}/next-invoice`).expect(404);
      expect(body.error.code).to.equal('NOT_FOUND');
    }
    const stranger = await story.instance.tenant();
    await stranger.get(`/v1/accounts/${accountId}/next-invoice`).expect(404);
    const misspelt = await tenant.get('/v1/accounts/acme/next-invoice?period=x').expect(400);
    expect(misspelt.body.error.message).to.include("'period'");
  });
});
