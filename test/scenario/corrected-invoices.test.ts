import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

interface Item {
  readonly description: string;
  readonly amount: number;
  readonly correctedInvoiceId: string | null;
}

/** Usage that is corrected after it was invoiced. */
describe('corrections of invoiced usage', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;

  let accountId = '';
  let serviceId = '';
  const send = async (id: string, calls: string, day = '2026-03-15'): Promise<void> => {
    const dimensions = { api_calls: calls };
    const eventTimestamp = `${day}T12:00:00Z`;
    await story.send(
      usage('acme', serviceId, { externalTransactionId: id, dimensions, eventTimestamp }),
    );
  };
  const correct = async (id: string, way: string, body: object = {}): Promise<void> => {
    const reason = 'The meter was wrong.';
    await tenant.post(`/v1/usage-events/${id}/${way}`, { reason, ...body }).expect(200);
  };
  const itemsOf = async (period: '2026-03' | '2026-04'): Promise<[Item[], string | undefined]> => {
    const { invoices } = await story.bill(period, { accountId });
    const [invoice] = invoices;
    if (!invoice) return [[], undefined];
    const { body } = await tenant.get(`${external}/invoices/${invoice.id}`).expect(200);
    const items = (body.items as Item[]).map(({ description, amount, correctedInvoiceId }) => ({
      description,
      amount,
      correctedInvoiceId,
    }));
    return [items, invoice.id];
  };

  beforeEach(async () => {
    accountId = await story.account('acme');
    serviceId = await story.service('Metered', meteredService);
  });

  // spec/beyond.md R215
  it('stand on the next invoice as items that name the one that they correct', async () => {
    // 1,000 are free: 0, and 1,000 x 0.02 = 20.
    await send('a', '1000');
    await send('b', '1000');
    const [first, id] = await itemsOf('2026-03');
    expect(first.map(({ amount }) => amount)).to.deep.equal([20]);
    // Without b: what it cost is owed back. 500 more in April: free.
    await correct('b', 'cancel');
    story.travelTo('2026-05-02');
    await send('c', '1500', '2026-04-10');
    const [second, next] = await itemsOf('2026-04');
    // 500 x 0.02 = 10 of April, and 20 back of March: a credit note of 10, with its signs.
    expect(second).to.have.deep.members([
      { description: 'API calls', amount: -10, correctedInvoiceId: null },
      { description: 'API calls (correction of INV-000001)', amount: 20, correctedInvoiceId: id },
    ]);
    const explained = await story.explain(next);
    expect(explained.items.every(({ matches }: { matches: boolean }) => matches)).to.equal(true);
    expect(await itemsOf('2026-04')).to.deep.equal([[], undefined]);
  });

  // spec/beyond.md R216
  it('wait where nothing else is billed and something is owed back', async () => {
    await send('a', '1000');
    await send('b', '1000');
    const [, id] = await itemsOf('2026-03');
    await correct('b', 'cancel');
    expect(await itemsOf('2026-03')).to.deep.equal([[], undefined]);
    story.travelTo('2026-05-02');
    // 3,000 in April: 2,000 x 0.02 = 40.
    await send('c', '3000', '2026-04-10');
    const [items, next] = await itemsOf('2026-04');
    expect(items).to.have.deep.members([
      { description: 'API calls', amount: 40, correctedInvoiceId: null },
      { description: 'API calls (correction of INV-000001)', amount: -20, correctedInvoiceId: id },
    ]);
    // spec/beyond.md R542
    const { previous } = (await story.explain(next)).summary;
    const changes = previous.changes.map(
      ({ description, amountBefore, amount }: Record<string, unknown>) => [
        description,
        amountBefore,
        amount,
      ],
    );
    expect(changes).to.have.deep.members([
      ['API calls', 20, 40],
      ['API calls (correction of INV-000001)', 0, -20],
    ]);
  });

  // spec/beyond.md R217
  it('are billed with the rest when the invoice is void and the period runs again', async () => {
    await send('a', '1000');
    await send('b', '1000');
    const [, id] = await itemsOf('2026-03');
    await correct('a', 'amend', {
      message: usage('acme', serviceId, {
        externalTransactionId: 'a',
        dimensions: { api_calls: '1200' },
      }),
    });
    await story.voidInvoice(id);
    const [items] = await itemsOf('2026-03');
    // 200 x 0.02 = 4 and 1,000 x 0.02 = 20.
    expect(items).to.deep.equal([
      { description: 'API calls', amount: 24, correctedInvoiceId: null },
    ]);
  });

  // spec/beyond.md R217
  it('of usage that no invoice has leave nothing of what was wrong', async () => {
    await send('a', '1000');
    await send('b', '1000');
    await correct('a', 'cancel');
    await send('c', '500');
    // b is free now; c: 500 x 0.02.
    const [items] = await itemsOf('2026-03');
    expect(items).to.deep.equal([
      { description: 'API calls', amount: 10, correctedInvoiceId: null },
    ]);
  });

  // spec/beyond.md R315
  it('are paid out as a credit note where nothing will charge the account any more', async () => {
    const contract = { startDate: '2026-01-01', endDate: '2026-05-31', currency: 'USD' };
    await story.subscribe(accountId, [serviceId], contract);
    await send('a', '1000');
    await send('b', '1000');
    const [, id] = await itemsOf('2026-03');
    await correct('b', 'cancel');
    // The contract goes on until the end of May: the 20 wait for what is used until then.
    story.travelTo('2026-05-02');
    expect(await itemsOf('2026-04')).to.deep.equal([[], undefined]);
    story.travelTo('2026-06-02');
    const { invoices } = await story.bill('2026-05', { accountId });
    expect(invoices.map(({ invoiceType, amount }) => [invoiceType, amount])).to.deep.equal([
      ['Credit Note', 20],
    ]);
    const { body } = await tenant.get(`${external}/invoices/${invoices[0]?.id}`).expect(200);
    expect((body.items as Item[]).map(({ correctedInvoiceId }) => correctedInvoiceId)).to.eql([id]);
    expect((await story.bill('2026-06', { accountId })).invoices).to.deep.equal([]);
    const trial = await tenant.get('/v1/journal/trial-balance').expect(200);
    const open = (trial.body.accounts as { account: string; balance: number }[])
      .filter(({ balance }) => balance !== 0)
      .map(({ account, balance }) => `${account} ${balance}`);
    // 20 were billed and 20 are owed back: the receivable is none, and so is the revenue.
    expect(open).to.deep.equal([]);
  });

  // spec/beyond.md R315
  it('that come to nothing make no invoice, whatever has ended', async () => {
    const contract = { startDate: '2026-01-01', endDate: '2026-05-31', currency: 'USD' };
    await story.subscribe(accountId, [serviceId], contract);
    await send('a', '1000');
    await send('b', '1000');
    await itemsOf('2026-03');
    // 900 and 1,100 are 2,000 as before: 1,000 of them are free.
    for (const [id, quantity] of [
      ['a', '900'],
      ['b', '1100'],
    ] as const) {
      const message = usage('acme', serviceId, {
        externalTransactionId: id,
        dimensions: { api_calls: quantity },
      });
      await correct(id, 'amend', { message });
    }
    story.travelTo('2026-06-02');
    expect((await story.bill('2026-05', { accountId })).invoices).to.deep.equal([]);
    expect((await story.bill('2026-06', { accountId })).invoices).to.deep.equal([]);
  });
});
