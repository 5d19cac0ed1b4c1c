import { expect } from 'chai';
import {
  invoicesOf,
  itemLines,
  runBilling,
  type BilledInvoice,
  type RunOutput,
} from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { fillPrices, fillTenant } from '../support/servers/fill.js';
import { openReceiver, verify } from '../support/servers/receiver.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

describe('what a billing run also does', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const billed = async (output: RunOutput): Promise<Map<string, string[]>> => {
    const byAccount = new Map<string, string[]>();
    for (const invoice of await invoicesOf(tenant, output)) {
      byAccount.set(invoice.accountId, itemLines(invoice));
    }
    return byAccount;
  };

  it('tells a receiver of each invoice, with the invoice as it is read', async () => {
    const receiver = await openReceiver();
    await tenant
      .post('/v1/webhooks', { url: receiver.url, events: ['invoice.posted'], secret })
      .expect(201);
    const serviceId = await createService(tenant, 'Calls');
    for (const name of ['one', 'two']) {
      await createAccount(tenant, name);
      await send(tenant, usage(name, serviceId));
    }
    await waitUntilRated(tenant, 2);
    await runBilling(tenant, '2026-03-01', '2026-03-31', { dryRun: true });
    const output = await runBilling(tenant, '2026-03-01', '2026-03-31');
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
    expect([...told.keys()].sort()).to.deep.equal([...output.invoiceIds].sort());
    expect(received).to.have.length(2);
    for (const invoice of await invoicesOf(tenant, output)) {
      const { invoiceNo, amount, items } = invoice;
      // 100 x 0.01.
      expect(told.get(invoice.id)).to.deep.include({ invoiceNo, amount, balance: 1 });
      expect(told.get(invoice.id)?.items.map(({ amount: of }) => of)).to.deep.equal(
        items.map(({ amount: of }) => of),
      );
    }
  });

  it('bills another account for the rows of a card that name it', async () => {
    const payer = await createAccount(tenant, 'payer');
    const user = await createAccount(tenant, 'user');
    const row = (priceDimName: string, unitRate: number, more: object = {}) => ({
      priceDimName,
      label: priceDimName,
      priceMethod: 'QUANTITY',
      unitRate,
      ...more,
    });
    const serviceId = await createService(tenant, 'Plan', {
      serviceType: 'Subscription',
      priceableAttributes: ['seats', 'support'].map((name) => ({
        name,
        dimensionDataType: 'Number',
        isProration: true,
      })),
      rateCards: [
        {
          currency: 'USD',
          rows: [row('seats', 31), row('support', 62, { billingAccountId: payer })],
        },
      ],
    });
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: user,
        name: 'C',
        startDate: '2026-03-01',
        services: [{ serviceId, chargeFrequency: 'Monthly', billingFrequency: 'Monthly' }],
      })
      .expect(201);
    const lines = await billed(await runBilling(tenant, '2026-03-01', '2026-03-31'));
    expect(lines).to.deep.equal(
      new Map([
        [payer, ['support 2026-03-01..2026-03-31 62']],
        [user, ['seats 2026-03-01..2026-03-31 31']],
      ]),
    );
    const again = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(again.invoiceCount).to.equal(0);
  });

  it('bills an account on the last day of a month that is shorter than its billing day', async () => {
    const serviceId = await createService(tenant, 'Calls');
    const last = await createAccount(tenant, 'last', { billingDay: 30 });
    const any = await createAccount(tenant, 'any');
    for (const name of ['last', 'any']) {
      for (const eventTimestamp of ['2026-02-10T00:00:00Z', '2026-03-01T00:00:00Z']) {
        await send(tenant, usage(name, serviceId, { eventTimestamp }));
      }
    }
    await waitUntilRated(tenant, 4);
    // A week without the 28th, which is the 30th of this February.
    const before = await billed(await runBilling(tenant, '2026-02-21', '2026-02-27'));
    expect(before).to.deep.equal(new Map([[any, ['API calls 2026-02-10..2026-02-10 1']]]));
    const after = await billed(await runBilling(tenant, '2026-02-28', '2026-03-06'));
    expect(after).to.deep.equal(
      new Map([
        [last, ['API calls 2026-02-10..2026-03-01 2']],
        [any, ['API calls 2026-03-01..2026-03-01 1']],
      ]),
    );
  });

  // spec/resources.md R86
  it('says of a transaction whether it is billed: of the days before, late, and void', async () => {
    const serviceId = await createService(tenant, 'Calls');
    await createAccount(tenant, 'acme');
    const [first] = await send(tenant, usage('acme', serviceId));
    await waitUntilRated(tenant, 1);
    const isBilled = async (externalId?: string): Promise<unknown> => {
      const { body } = await tenant.get(`${external}/rated-transactions?q=${externalId}`);
      const [row] = body.data.content as { Billed: boolean; Id: string }[];
      const one = await tenant.get(`${external}/rated-transactions/${row?.Id}`).expect(200);
      expect(one.body.billed).to.equal(row?.Billed);
      return row?.Billed;
    };
    expect(await isBilled(first)).to.equal(false);
    const march = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(await isBilled(first)).to.equal(true);
    const [late] = await send(tenant, usage('acme', serviceId));
    await waitUntilRated(tenant, 2);
    expect(await isBilled(late)).to.equal(false);
    expect(await isBilled(first)).to.equal(true);
    const april = await runBilling(tenant, '2026-04-01', '2026-04-30');
    // Only what came late: 100 x 0.01.
    expect((await invoicesOf(tenant, april)).map(({ amount }) => amount)).to.deep.equal([1]);
    expect(await isBilled(late)).to.equal(true);
    await tenant.post(`/v1/invoices/${march.invoiceIds[0]}/void`).expect(200);
    expect(await isBilled(first)).to.equal(false);
    expect(await isBilled(late)).to.equal(true);
  });

  it('shows the drafts of a dry run that its output can hold, and counts all', async () => {
    // Each of ten accounts has usage of each of 601 services: ten drafts of 601 items.
    const filling = { tenantId: tenant.id, accounts: 10, services: 601, events: 6_010 };
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, filling);
      await fillPrices(client, filling);
    });
    const october = ['2026-10-01', '2026-10-31'] as const;
    const { invoiceCount, invoices = [] } = await runBilling(tenant, ...october, { dryRun: true });
    expect(invoiceCount).to.equal(10);
    expect(invoices.length).to.be.within(1, 9);
    // 601 x 1.25.
    for (const { amount, items } of invoices)
      expect([amount, items.length]).to.deep.equal([751.25, 601]);
    const { transactionCount } = await runBilling(tenant, ...october);
    expect(transactionCount).to.equal(6_010);
  });
});
