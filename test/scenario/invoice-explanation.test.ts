import { expect } from 'chai';
import { runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  tiers,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

interface Explained {
  readonly rows: readonly { readonly row: { readonly label: string }; readonly amount: string }[];
  readonly steps: readonly { readonly label: string; readonly formula: string; value: string }[];
  readonly card: { readonly fromDate: string; readonly note?: string };
  readonly total: { readonly amount: string };
}

interface ExplainedItem {
  readonly description: string;
  readonly amount: number;
  readonly matches: boolean;
  readonly transactions: readonly { readonly explanation: Explained | null }[];
  readonly charges: readonly {
    readonly amount: number;
    readonly proration: object | null;
    readonly explanation: Explained | null;
  }[];
}

describe('the explanation of an invoice', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const itemsOf = async (invoiceId: string): Promise<ExplainedItem[]> =>
    (await tenant.get(`/v1/invoices/${invoiceId}/explain`).expect(200)).body.items;

  // spec/beyond.md R20
  it('is there for each charge of an event that bills twelve accounts, counters included', async () => {
    const names = Array.from({ length: 12 }, (_none, index) => `part${index}`);
    const accounts: string[] = [];
    for (const name of names) accounts.push(await createAccount(tenant, name));
    await createAccount(tenant, 'user');
    const serviceId = await createService(tenant, 'Parts', {
      priceableAttributes: names.map((name) => ({
        name,
        dimensionDataType: 'Number',
        isMeterDimension: true,
        meterResetFrequency: 'Monthly',
      })),
      rateCards: [
        {
          currency: 'USD',
          rows: names.map((priceDimName, index) => ({
            priceDimName,
            label: priceDimName,
            billingAccountId: accounts[index],
            ...tiers([0, 100, 1], [100, null, 2]),
          })),
        },
      ],
    });
    const dimensions = Object.fromEntries(names.map((name) => [name, '80']));
    // One after the other: the second begins where the first has left the counters.
    for (let number = 1; number <= 2; number += 1) {
      await send(tenant, usage('user', serviceId, { dimensions }));
      await waitUntilRated(tenant, number);
    }
    const { invoiceIds } = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(invoiceIds).to.have.length(12);
    for (const id of invoiceIds) {
      const [item] = await itemsOf(id);
      // 80 at 1; then 20 at 1 and 60 at 2: 220 in all.
      expect(item).to.include({ amount: 220, matches: true });
      const totals = item?.transactions.map(({ explanation }) => explanation?.total.amount);
      expect(totals?.sort()).to.deep.equal(['140', '80']);
    }
  });

  it('goes on to the days that are charged, price by price', async () => {
    const accountId = await createAccount(tenant, 'acme');
    const attribute = { dimensionDataType: 'Number', isProration: true };
    const row = (priceDimName: string, unitRate: number) => ({
      priceDimName,
      label: priceDimName,
      priceMethod: 'QUANTITY',
      unitRate,
    });
    const serviceId = await createService(tenant, 'Plan', {
      serviceType: 'Subscription',
      priceableAttributes: [
        { ...attribute, name: 'Seats' },
        { ...attribute, name: 'Support' },
      ],
      rateCards: [{ currency: 'USD', rows: [row('Seats', 60), row('Support', 31)] }],
    });
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2026-03-16',
        services: [{ serviceId, chargeFrequency: 'Monthly', billingFrequency: 'Monthly' }],
      })
      .expect(201);
    const march = await runBilling(tenant, '2026-03-01', '2026-03-31');
    const items = await itemsOf(march.invoiceIds[0] ?? '');
    // 16 to 31 March are 16 of 31 days: 60 x 16 / 31 = 30.9677..., and 31 x 16 / 31 = 16.
    const found = items.map(({ amount, charges: [charge] }) => {
      const { rows = [], steps = [], total } = charge?.explanation ?? {};
      const [step, ...others] = steps;
      return [
        amount,
        charge?.proration,
        rows.map(({ row: { label } }) => label),
        step?.label,
        step?.formula,
        step?.value,
        others.length,
        total?.amount,
      ];
    });
    const proration = { days: 16, of: 31, text: '16 of 31 days' };
    const first = '30.9677419355';
    expect(found).to.deep.equal([
      [30.97, proration, ['Seats'], '16 of 31 days', '60 * 16 / 31', first, 0, first],
      [16, proration, ['Support'], '16 of 31 days', '31 * 16 / 31', '16', 0, '16'],
    ]);
    const april = await runBilling(tenant, '2026-04-01', '2026-04-30');
    const [whole] = await itemsOf(april.invoiceIds[0] ?? '');
    expect(whole?.charges[0]?.proration).to.equal(null);
    expect(whole?.charges[0]?.explanation).to.deep.include({ steps: [] });
  });

  // spec/rating.md R17
  it('says that there was no version of the card when the usage is older than the first', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    await send(tenant, usage('acme', serviceId, { eventTimestamp: '2026-01-05T00:00:00Z' }));
    await waitUntilRated(tenant, 1);
    const { invoiceIds } = await runBilling(tenant, '2026-01-01', '2026-01-31');
    const [item] = await itemsOf(invoiceIds[0] ?? '');
    const card = item?.transactions[0]?.explanation?.card;
    expect(card?.note).to.equal(
      `There was no version before ${card?.fromDate}: the first one prices the usage of 2026-01-05.`,
    );
  });

  it('says on which day it was that something was paid once', async () => {
    const accountId = await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Setup', { serviceType: 'OTC' });
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2026-03-16',
        services: [{ serviceId }],
      })
      .expect(201);
    const { invoiceIds } = await runBilling(tenant, '2026-03-01', '2026-03-31');
    const [item] = await itemsOf(invoiceIds[0] ?? '');
    const day = '2026-03-16';
    expect(item?.charges[0]).to.include({ periodStart: day, periodEnd: day, billStartDate: day });
  });
});
