import { expect } from 'chai';
import { setSeller } from '../../src/access/tenants.js';
import { loadPdfInvoice } from '../../src/queries/billing/invoice-pdf.js';
import { runBilling } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const attribute = { dimensionDataType: 'Number' };
const row = (priceDimName: string, unitRate: number) => ({
  priceDimName,
  label: priceDimName,
  priceMethod: 'QUANTITY',
  unitRate,
});
const logic = (chargeType: string, formula: string) => ({
  name: 'Main',
  priceOutput: 'total',
  transactionDimension: 'Customer',
  chargeType,
  steps: [
    { name: 'double', label: 'Twice the count', formula },
    { name: 'total', formula: 'Price(jobs, double)' },
  ],
});

describe('what the paper of an invoice shows', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('labels, order and contract, steps, how to pay, what is paid, and each day', async () => {
    const payment = {
      paymentText: 'Thank you.',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
    };
    await setSeller(instance.platform.database.platform, tenant.id, {
      name: 'Seller',
      usageAppendix: true,
      ...payment,
    });
    const account = await createAccount(tenant, 'acme');
    const calls = await createService(tenant, 'internal-calls', {
      label: 'Calls',
      priceableAttributes: [{ ...attribute, name: 'api_calls', label: 'API calls' }],
    });
    const jobs = (name: string, chargeType: string, formula: string, more: object = {}) =>
      createService(tenant, name, {
        priceableAttributes: [{ ...attribute, name: 'jobs' }],
        rateCards: [{ currency: 'USD', rows: [row('jobs', 2)] }],
        pricingLogic: [logic(chargeType, formula)],
        ...more,
      });
    const usageJobs = await jobs('Jobs', 'Usage', '2 * jobs');
    const plan = await jobs('Plan', 'Subscription', '2 * 3', { serviceType: 'Subscription' });
    const periods = { chargeFrequency: 'Monthly', billingFrequency: 'Monthly' };
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: account,
        name: 'C',
        number: 'C-7',
        poNumber: 'PO 9',
        startDate: '2026-03-01',
        services: [{ serviceId: calls }, { serviceId: usageJobs }, { serviceId: plan, ...periods }],
      })
      .expect(201);
    const on = (day: string) => ({ eventTimestamp: `2026-03-${day}T10:00:00Z` });
    await send(
      tenant,
      usage('acme', calls, on('05')),
      usage('acme', calls, on('05')),
      usage('acme', calls, on('06')),
      usage('acme', usageJobs, { dimensions: { jobs: '4' }, ...on('07') }),
    );
    await waitUntilRated(tenant, 4);
    const run = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(run.invoiceIds).to.have.length(1);
    const id = run.invoiceIds[0] ?? '';
    await tenant
      .post(`${external}/payments`, {
        accountId: account,
        amount: 5,
        currency: 'USD',
        paymentDate: '2026-04-02',
        paymentMethod: 'Cash',
        paymentType: 'Pay In',
        paymentReference: 'first',
      })
      .expect(201);
    const paper = await loadPdfInvoice(tenant.scope, id);
    // 300 calls at 0.01 are 3; 2 x 4 jobs at 2 are 16; 2 x 3 at 2 are 12: 31, of which 5 are paid.
    expect(paper).to.deep.include({
      contractNumber: 'C-7',
      poNumber: 'PO 9',
      total: '31',
      paid: '5',
      due: '26',
      payment: { text: 'Thank you.', iban: payment.iban, bic: payment.bic },
    });
    const items = paper.items.map(({ description, detail, unit, steps, stepsOf }) => [
      description,
      detail,
      unit,
      stepsOf,
      steps.map(({ label, name, value }) => `${label ?? name} ${value ?? '?'}`),
    ]);
    expect(items).to.have.deep.members([
      ['API calls', 'Calls', 'API calls', 0, []],
      ['Jobs', '', null, 1, ['Twice the count 8', 'total 16']],
      ['Plan', '', null, 1, ['Twice the count 6', 'total 12']],
    ]);
    expect(paper.usage).to.deep.equal(
      [
        ['2026-03-05', 'API calls', 'API calls', '200', '2'],
        ['2026-03-06', 'API calls', 'API calls', '100', '1'],
        ['2026-03-07', 'Jobs', null, '8', '16'],
      ].map(([date, description, unit, volume, amount]) => ({
        date,
        description,
        unit,
        volume,
        amount,
      })),
    );
    await tenant.post(`/v1/invoices/${id}/void`).expect(200);
    const voided = await loadPdfInvoice(tenant.scope, id);
    expect(voided).to.deep.include({ isVoid: true, paid: '0', due: '0', payment: null });
    // The stored one was made from the same.
    const { body } = await tenant.get(`${external}/invoices/${id}/pdf`).expect(200);
    expect((body as Buffer).subarray(0, 5).toString()).to.equal('%PDF-');
    await asOwner(instance.databaseUrl, (client) =>
      client.query('update seller set usage_appendix = false where tenant_id = $1', [tenant.id]),
    );
    expect((await loadPdfInvoice(tenant.scope, id)).usage).to.equal(null);
  });
});
