import { expect } from 'chai';
import { loadPdfInvoice } from '../../src/queries/billing/invoice-pdf.js';
import { invoicesOf, runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService, rate, tiers, usage } from '../support/billing/usage.js';

const priced = (serviceType: string, label: string, price: object) => ({
  serviceType,
  priceableAttributes: [{ name: label, dimensionDataType: 'Number', isProration: true }],
  rateCards: [
    { currency: 'USD', rows: [{ priceDimName: label, label, taxCode: 'VAT', ...price }] },
  ],
});
const flat = (flatRate: number) => ({ priceMethod: 'FLAT_RATE', flatRate });

describe('charges that come to less than zero', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let masterAccountId: string;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
    masterAccountId = await createAccount(tenant, 'acme');
    await tenant.post('/v1/tax-rates', { code: 'VAT', rate: 10 }).expect(201);
  });

  const sell = async (startDate: string, ...serviceIds: string[]) => {
    const services = serviceIds.map((serviceId) => ({ serviceId }));
    const body = { masterAccountId, startDate, services };
    await tenant.post(`${external}/contracts`, body).expect(201);
  };
  const march = async () => {
    const dry = await runBilling(tenant, '2026-03-01', '2026-03-31', { dryRun: true });
    const invoices = await invoicesOf(tenant, await runBilling(tenant, '2026-03-01', '2026-03-31'));
    const short = ({ invoiceType, amount, taxAmount }: (typeof invoices)[number]) =>
      `${invoiceType} ${amount} ${taxAmount}`;
    expect(dry.invoices?.map(short)).to.deep.equal(invoices.map(short));
    return invoices;
  };
  const explain = async (id: string) =>
    (await tenant.get(`/v1/invoices/${id}/explain`).expect(200)).body;
  const pay = async (paymentType: string, amount: number) => {
    const payment = { accountId: masterAccountId, currency: 'USD', paymentType, amount };
    const how = { paymentMethod: 'Cash', paymentDate: '2026-04-01' };
    const { body } = await tenant
      .post(`${external}/payments`, { ...payment, ...how, paymentReference: paymentType })
      .expect(201);
    return body.balance as number;
  };

  // spec/beyond.md R17
  it('are a credit note that money which goes out pays', async () => {
    // 16 of 31 days: -50 x 16 / 31 = -25.806...; tax 2.58.
    await sell(
      '2026-03-16',
      await createService(tenant, 'Rebate', priced('Subscription', 'Rebate', flat(-50))),
    );
    const [note, ...others] = await march();
    expect(others).to.deep.equal([]);
    expect(note).to.include({ invoiceNo: 'CN-000001', invoiceType: 'Credit Note', dueDate: null });
    expect(note).to.include({ amount: 25.81, taxAmount: 2.58, balance: 28.39 });
    expect(note?.items[0]).to.include({ volume: 1, ratePerUnit: 50, amount: 25.81, tax: 2.58 });
    const { items, summary } = await explain(note?.id ?? '');
    expect(items[0]).to.include({ matches: true, exactAmount: 25.8064516129 });
    expect(summary.items[0]).to.include({ amount: 25.81, percent: 100 });
    expect(await pay('Pay In', 28.39)).to.equal(28.39);
    expect(await pay('Pay Out', 28.39)).to.equal(0);
  });

  it('are explained with their tiers, and by their largest events', async () => {
    const graduated = tiers([0, 10, -1], [10, null, -0.5]);
    const serviceId = await createService(tenant, 'Back', priced('Usage', 'Back', graduated));
    for (const count of ['30', '4']) {
      await rate(tenant, usage('acme', serviceId, { dimensions: { Back: count } }));
    }
    const [note] = await march();
    // 14 x 1 + 20 x 0.5.
    expect(note).to.include({ invoiceType: 'Credit Note', amount: 24 });
    const [item] = note?.items as unknown as { tiers: { ratePerUnit: number; amount: number }[] }[];
    expect(item?.tiers.map(({ ratePerUnit, amount }) => [ratePerUnit, amount])).to.deep.equal([
      [1, 14],
      [0.5, 10],
    ]);
    const { items, summary } = await explain(note?.id ?? '');
    expect(items[0]).to.include({ matches: true, sumOfParts: -24, exactAmount: 24 });
    expect(summary.items[0].rows[0]).to.include({ amount: 24 });
    expect(summary.largestEvents[0]).to.include({ amount: 20 });
  });

  it('say on the paper that the steps of a formula have the opposite sign', async () => {
    const serviceId = await createService(tenant, 'Refund', {
      priceableAttributes: [{ name: 'jobs', dimensionDataType: 'Number' }],
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [{ name: 'total', label: 'Three back for each', formula: '-3 * jobs' }],
        },
      ],
      rateCards: [
        {
          currency: 'USD',
          rows: [{ priceDimName: 'jobs', label: 'Jobs', priceMethod: 'NO_PRICE' }],
        },
      ],
    });
    await rate(tenant, usage('acme', serviceId, { dimensions: { jobs: '4' } }));
    const [note] = await march();
    expect(note).to.include({ invoiceType: 'Credit Note', amount: 12, dueDate: null });
    const { dueDate, total, items } = await loadPdfInvoice(tenant.scope, note?.id ?? '');
    expect([dueDate, total]).to.deep.equal([null, '12']);
    expect(
      items[0]?.steps.map(({ label, value }) => `${label ?? ''}: ${value ?? ''}`),
    ).to.deep.equal(['Three back for each: -12', 'On this document: with the opposite sign']);
  });

  it('are a line of the invoice beside charges that are more', async () => {
    const [rebate, fee] = [
      await createService(tenant, 'Rebate', priced('Subscription', 'Rebate', flat(-50))),
      await createService(tenant, 'Fee', priced('Subscription', 'Fee', flat(80))),
    ];
    await sell('2026-03-01', rebate, fee);
    const [invoice] = await march();
    expect(invoice).to.include({ invoiceNo: 'INV-000001', amount: 30, taxAmount: 3 });
    expect(invoice?.items.map(({ amount }) => amount)).to.deep.equal([-50, 80]);
  });
});
