import { expect } from 'chai';
import { itemLines, type BilledInvoice } from '../support/billing/billing-run.js';
import { external } from '../support/servers/instance.js';
import { fillPrices, fillTenant } from '../support/servers/fill.js';
import { openReceiver, verify } from '../support/servers/receiver.js';
import { asOwner } from '../support/servers/rows.js';
import { usage } from '../support/billing/usage.js';
import { attribute, every, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory, type Bill } from '../support/story/story.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('what a billing run also does', () => {
  const story = useStory({ forEachTest: true });
  const { instance, tenant } = story;

  const billed = ({ invoices }: Bill) =>
    new Map(invoices.map((invoice) => [invoice.accountId, itemLines(invoice)]));

  it('tells a receiver of each invoice, with the invoice as it is read', async () => {
    const receiver = await openReceiver();
    await tenant
      .post('/v1/webhooks', { url: receiver.url, events: ['invoice.posted'], secret })
      .expect(201);
    const serviceId = await story.service('Calls');
    for (const name of ['one', 'two']) await story.account(name);
    await story.send(usage('one', serviceId), usage('two', serviceId));
    await story.preview('2026-03');
    const { run, invoices } = await story.bill('2026-03');
    const received = await receiver.until(({ length }) => length >= 2);
    await receiver.close();
    const told = new Map<string, BilledInvoice>();
    for (const delivery of received) {
      verify(secret, delivery);
      expect(delivery.payload.event).to.equal('invoice.posted');
      const invoice = delivery.payload.data as BilledInvoice;
      told.set(invoice.id, invoice);
    }
    // Neither the dry run nor a second time.
    expect([...told.keys()].sort()).to.deep.equal([...run.invoiceIds].sort());
    expect(received).to.have.length(2);
    for (const invoice of invoices) {
      const { invoiceNo, amount, items } = invoice;
      // 100 x 0.01.
      expect(told.get(invoice.id)).to.deep.include({ invoiceNo, amount, balance: 1 });
      expect(told.get(invoice.id)?.items.map(({ amount: of }) => of)).to.deep.equal(
        items.map(({ amount: of }) => of),
      );
    }
  });

  it('bills another account for the rows of a card that name it', async () => {
    const payer = await story.account('payer');
    const user = await story.account('user');
    const serviceId = await story.service('Plan', {
      serviceType: 'Subscription',
      priceableAttributes: ['seats', 'support'].map((name) =>
        attribute(name, { isProration: true }),
      ),
      rateCards: [
        usdCard(priceOfEach('seats', 31), priceOfEach('support', 62, { billingAccountId: payer })),
      ],
    });
    await story.subscribe(user, [{ serviceId, ...every('Monthly') }], { startDate: '2026-03-01' });
    const lines = billed(await story.bill('2026-03'));
    expect(lines).to.deep.equal(
      new Map([
        [payer, ['support 2026-03-01..2026-03-31 62']],
        [user, ['seats 2026-03-01..2026-03-31 31']],
      ]),
    );
    const again = await story.bill('2026-03');
    expect(again.run.invoiceCount).to.equal(0);
  });

  it('bills an account on the last day of a month that is shorter than its billing day', async () => {
    const serviceId = await story.service('Calls');
    const last = await story.account('last', { billingDay: 30 });
    const any = await story.account('any');
    const days = ['2026-02-10T00:00:00Z', '2026-03-01T00:00:00Z'];
    const ofDays = (name: string) =>
      days.map((eventTimestamp) => usage(name, serviceId, { eventTimestamp }));
    await story.send(...ofDays('last'), ...ofDays('any'));
    // A week without the 28th, which is the 30th of this February.
    const before = billed(await story.bill(['2026-02-21', '2026-02-27']));
    expect(before).to.deep.equal(new Map([[any, ['API calls 2026-02-10..2026-02-10 1']]]));
    const after = billed(await story.bill(['2026-02-28', '2026-03-06']));
    expect(after).to.deep.equal(
      new Map([
        [last, ['API calls 2026-02-10..2026-03-01 2']],
        [any, ['API calls 2026-03-01..2026-03-01 1']],
      ]),
    );
  });

  // spec/resources.md R86
  it('says of a transaction whether it is billed: of the days before, late, and void', async () => {
    const serviceId = await story.service('Calls');
    await story.account('acme');
    const [first] = await story.send(usage('acme', serviceId));
    const isBilled = async (externalId?: string): Promise<unknown> => {
      const { body } = await tenant.get(`${external}/rated-transactions?q=${externalId}`);
      const [row] = body.data.content as { Billed: boolean; Id: string }[];
      const one = await tenant.get(`${external}/rated-transactions/${row?.Id}`).expect(200);
      expect(one.body.billed).to.equal(row?.Billed);
      return row?.Billed;
    };
    expect(await isBilled(first)).to.equal(false);
    const march = await story.bill('2026-03');
    expect(await isBilled(first)).to.equal(true);
    const [late] = await story.send(usage('acme', serviceId));
    expect(await isBilled(late)).to.equal(false);
    expect(await isBilled(first)).to.equal(true);
    const april = await story.bill('2026-04');
    // Only what came late: 100 x 0.01.
    expect(april.invoices.map(({ amount }) => amount)).to.deep.equal([1]);
    expect(await isBilled(late)).to.equal(true);
    await story.voidInvoice(march.invoices[0]?.id);
    expect(await isBilled(first)).to.equal(false);
    expect(await isBilled(late)).to.equal(true);
  });

  it('shows all items of each draft of a dry run', async () => {
    const services = [await story.service('Calls'), await story.service('Texts')];
    for (const name of ['one', 'two']) await story.account(name);
    const each = ['one', 'two'].flatMap((name) => services.map((id) => usage(name, id)));
    await story.send(...each);
    const { invoices = [] } = await story.preview('2026-03');
    expect(invoices).to.have.length(2);
    // Of either service 100 x 0.01.
    for (const { amount, items, nextItemOffset } of invoices)
      expect({ amount, items: items.length, nextItemOffset }).to.deep.equal({
        amount: 2,
        items: 2,
        nextItemOffset: null,
      });
    expect(invoices).to.have.length(2);
  });

  it('shows the drafts of a dry run that its output can hold, and counts all', async () => {
    // Each of ten accounts has usage of each of 601 services: ten drafts of 601 items.
    const filling = { tenantId: tenant.id, accounts: 10, services: 601, events: 6_010 };
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, filling);
      await fillPrices(client, filling);
    });
    const { invoiceCount, invoices = [] } = await story.preview('2026-10');
    expect(invoiceCount).to.equal(10);
    expect(invoices.length).to.be.within(1, 9);
    // 601 x 1.25.
    for (const { amount, items } of invoices)
      expect([amount, items.length]).to.deep.equal([751.25, 601]);
    const { run } = await story.bill('2026-10');
    expect(run.transactionCount).to.equal(6_010);
  });
});
