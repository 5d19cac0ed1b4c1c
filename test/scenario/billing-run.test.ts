import { expect } from 'chai';
import { executeRun, invoicesOf, itemLines, runBilling } from '../support/billing/billing-run.js';
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
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

describe('a billing run', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
  });
  after(() => instance.close());
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  // spec/flows.md R34
  it('posts one invoice of the usage of an account: 3 x 100 x 0.01 = 3', async () => {
    const accountId = await createAccount(tenant, 'acme', { netTerm: 'Net 30' });
    const serviceId = await createService(tenant, 'Calls');
    await send(tenant, ...[1, 2, 3].map(() => usage('acme', serviceId)));
    await waitUntilRated(tenant, 3);
    const output = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(output).to.include({ invoiceCount: 1, transactionCount: 3, problemCount: 0 });
    const [invoice] = await invoicesOf(tenant, output);
    expect(invoice).to.include({
      invoiceNo: 'INV-000001',
      accountId,
      invoiceStatus: 'Posted',
      invoiceType: 'Invoice',
      amount: 3,
      taxAmount: 0,
      balance: 3,
      currency: 'USD',
      paymentStatus: 'Unpaid',
    });
    expect(invoice && itemLines(invoice)).to.deep.equal(['API calls 2026-03-15..2026-03-15 3']);
    const pdf = await tenant.get(`${external}/invoices/${invoice?.id}/pdf`).expect(200);
    expect(pdf.headers['content-disposition']).to.include('INV-000001.pdf');
    expect(Buffer.from(pdf.body).subarray(0, 5).toString()).to.equal('%PDF-');
    const again = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(again).to.include({ invoiceCount: 0, transactionCount: 0 });
  });

  it('marks the PDF of an invoice that was voided, and keeps the posted one', async () => {
    await createAccount(tenant, 'acme');
    await send(tenant, usage('acme', await createService(tenant, 'Calls')));
    await waitUntilRated(tenant, 1);
    const { invoiceIds } = await runBilling(tenant, '2026-03-01', '2026-03-31');
    const id = invoiceIds[0] ?? '';
    const read = async (): Promise<Buffer> => {
      const { body } = await tenant.get(`${external}/invoices/${id}/pdf`).expect(200);
      return body as Buffer;
    };
    const posted = await read();
    await tenant.post(`/v1/invoices/${id}/void`).expect(200);
    const [marked, again] = [await read(), await read()];
    expect(posted.includes('INV-000001 (void)')).to.equal(false);
    expect(marked.includes('INV-000001 (void)')).to.equal(true);
    expect(again.equals(marked)).to.equal(true);
    const shown = await tenant.get(`${external}/invoices/${id}`).expect(200);
    expect(shown.body.invoiceFileName).to.equal('INV-000001.pdf');
    const { rows } = await tenant.scope.db.read.raw<{ rows: { isVoid: boolean; bytes: Buffer }[] }>(
      'select is_void as "isVoid", bytes from invoice_document where invoice_id = ? order by 1',
      [id],
    );
    expect(rows.map(({ isVoid, bytes }) => [isVoid, bytes.toString('base64')])).to.deep.equal([
      [false, posted.toString('base64')],
      [true, marked.toString('base64')],
    ]);
  });

  it('charges a subscription by the month in arrears', async () => {
    const accountId = await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Plan', {
      serviceType: 'Subscription',
      priceableAttributes: [{ name: 'seats', dimensionDataType: 'Number', isProration: true }],
      rateCards: [
        {
          currency: 'USD',
          rows: [{ priceDimName: 'seats', label: 'Seats', priceMethod: 'QUANTITY', unitRate: 10 }],
        },
      ],
    });
    await tenant
      .post(`${external}/contracts`, {
        masterAccountId: accountId,
        name: 'C',
        startDate: '2026-03-11',
        services: [{ serviceId, chargeFrequency: 'Monthly', billingFrequency: 'Monthly' }],
      })
      .expect(201);
    // 21 of the 31 days of March: 10 x 21 / 31 = 6.774... = 6.77.
    const march = await runBilling(tenant, '2026-03-01', '2026-03-31');
    const april = await runBilling(tenant, '2026-04-01', '2026-04-30');
    const lines = [];
    for (const invoice of [
      ...(await invoicesOf(tenant, march)),
      ...(await invoicesOf(tenant, april)),
    ]) {
      lines.push(...itemLines(invoice));
    }
    expect(lines).to.deep.equal([
      'Seats 2026-03-11..2026-03-31 6.77',
      'Seats 2026-04-01..2026-04-30 10',
    ]);
  });

  // spec/flows.md R35
  it('writes nothing in a dry run, and shows the invoices', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    await send(tenant, usage('acme', serviceId));
    await waitUntilRated(tenant, 1);
    const dry = await runBilling(tenant, '2026-03-01', '2026-03-31', { dryRun: true });
    expect(dry.invoiceCount).to.equal(1);
    // Nobody has posted it.
    const status = { invoiceStatus: 'Draft', approvalStatus: 'Draft', invoiceNo: null };
    expect(dry.invoices?.[0]).to.include({ amount: 1, currency: 'USD', ...status });
    const list = await tenant.get(`${external}/invoices`).expect(200);
    expect(list.body.data.totalElements).to.equal(0);
  });

  // spec/flows.md R34
  it('refuses a period that ends before it begins, and executes nothing', async () => {
    const data = { periodStart: '2026-04-01', periodEnd: '2026-03-31' };
    const { body } = await tenant.post('/v1/workflows/billing-run/execute', { data }).expect(400);
    expect(body.error).to.include({ code: 'VALIDATION_ERROR' });
    const named = await executeRun(tenant, {
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
      accountId: '0190a000-0000-7000-8000-000000000000',
    });
    expect(named).to.include({ status: 'failed' });
  });
});
