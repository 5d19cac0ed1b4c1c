import { expect } from 'chai';
import { invoicesOf, runBilling } from '../support/billing/billing-run.js';
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

const free = { dimensionDataType: 'Number' };
const metered = { ...free, isMeterDimension: true, meterResetFrequency: 'Monthly' };
const graduated = tiers([0, 100, 0], [100, 300, 0.5], [300, null, 10, 'flat']);

/** A tier in short: bounds, volume, rate, amount. */
const short = (item: object): unknown[] =>
  (item as { tiers: Record<string, unknown>[] }).tiers.map((tier) => [
    tier['tierMinVal'],
    tier['tierMaxVal'],
    tier['volume'],
    tier['ratePerUnit'],
    tier['flatRate'],
    tier['amount'],
  ]);

describe('the items of an invoice', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
    await createAccount(tenant, 'acme');
  });

  const march = (more: object = {}) => runBilling(tenant, '2026-03-01', '2026-03-31', more);

  it('show what each tier has charged, metered over the month and event by event', async () => {
    const row = (priceDimName: string) => ({ priceDimName, label: priceDimName, ...graduated });
    const serviceId = await createService(tenant, 'Calls', {
      priceableAttributes: [
        { ...metered, name: 'Calls', label: 'API calls' },
        { ...free, name: 'Jobs' },
      ],
      rateCards: [{ currency: 'USD', rows: [row('Calls'), row('Jobs')] }],
    });
    for (let number = 1; number <= 3; number += 1) {
      await send(tenant, usage('acme', serviceId, { dimensions: { Calls: '120', Jobs: '120' } }));
      await waitUntilRated(tenant, number);
    }
    const { invoices: [draft] = [] } = await march({ dryRun: true });
    const [invoice] = await invoicesOf(tenant, await march());
    const [calls = {}, jobs = {}] = invoice?.items ?? [];
    // 360 calls on one counter: 100 free, 200 at 0.5, 60 for 10 once.
    expect(calls).to.include({ description: 'Calls', unit: 'API calls', amount: 110, volume: 360 });
    expect(short(calls)).to.deep.equal([
      [0, 100, 100, 0, false, 0],
      [100, 300, 200, 0.5, false, 100],
      [300, null, 60, 10, true, 10],
    ]);
    // Jobs begin anew with each event: three times 100 free and 20 at 0.5.
    expect(jobs).to.include({ description: 'Jobs', unit: 'Jobs', amount: 30, volume: 360 });
    expect(short(jobs)).to.deep.equal([
      [0, 100, 300, 0, false, 0],
      [100, 300, 60, 0.5, false, 30],
    ]);
    expect(draft?.items.map(short)).to.deep.equal([short(calls), short(jobs)]);
  });

  it('show the charged days, and the tiers of the whole period', async () => {
    const row = (name: string, prices: object) => ({ priceDimName: name, label: name, ...prices });
    const isProration = true;
    const serviceId = await createService(tenant, 'Plan', {
      serviceType: 'Subscription',
      priceableAttributes: [
        { ...free, name: 'Seats', isProration },
        { ...free, name: 'Setup' },
      ],
      rateCards: [
        {
          currency: 'USD',
          rows: [row('Seats', graduated), row('Setup', { priceMethod: 'FLAT_RATE', flatRate: 5 })],
        },
      ],
    });
    const accountId = await createAccount(tenant, 'globex');
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2026-03-16',
        services: [
          {
            serviceId,
            chargeFrequency: 'Monthly',
            billingFrequency: 'Monthly',
            priceableAttributes: [{ ...free, name: 'Seats', isProration, dimensionValText: '200' }],
          },
        ],
      })
      .expect(201);
    const [invoice] = await invoicesOf(tenant, await march());
    const [seats = {}, setup = {}] = invoice?.items ?? [];
    // 100 free and 100 at 0.5 are 50; 16 of 31 days of it 25.806...
    expect(seats).to.deep.include({
      amount: 25.81,
      unit: 'Seats',
      proration: { days: 16, of: 31, text: '16 of 31 days' },
    });
    expect(short(seats)).to.deep.equal([
      [0, 100, 100, 0, false, 0],
      [100, 300, 100, 0.5, false, 50],
    ]);
    expect(setup).to.deep.include({ amount: 5, proration: null, tiers: [] });
  });

  // spec/beyond.md R16, R17
  it('of what is paid out are on credit notes, with numbers of their own and no due date', async () => {
    const row = (usageType: string) => ({
      priceDimName: usageType,
      label: usageType,
      priceMethod: 'QUANTITY',
      unitRate: 1,
      usageType,
    });
    const serviceId = await createService(tenant, 'Both', {
      priceableAttributes: [
        { ...free, name: 'Charge' },
        { ...free, name: 'Payout' },
      ],
      rateCards: [{ currency: 'USD', rows: [row('Charge'), row('Payout')] }],
    });
    await createAccount(tenant, 'globex');
    for (const name of ['acme', 'globex']) {
      await send(tenant, usage(name, serviceId, { dimensions: { Charge: '3', Payout: '2' } }));
    }
    await waitUntilRated(tenant, 2);
    const run = await march();
    const invoices = (await invoicesOf(tenant, run)) as unknown as Record<string, unknown>[];
    const found = invoices.map(({ invoiceNo, invoiceType, amount, dueDate }) => [
      invoiceNo,
      invoiceType,
      amount,
      dueDate !== null,
    ]);
    expect(found).to.have.deep.members([
      ['INV-000001', 'Invoice', 3, true],
      ['INV-000002', 'Invoice', 3, true],
      ['CN-000001', 'Credit Note', 2, false],
      ['CN-000002', 'Credit Note', 2, false],
    ]);
  });
});
