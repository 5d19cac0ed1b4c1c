import { expect } from 'chai';
import { executeRun } from '../support/billing/billing-run.js';
import { external } from '../support/servers/instance.js';
import { usage } from '../support/billing/usage.js';
import { every, subscription } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

describe('a billing run', () => {
  const story = useStory({ forEachTest: true });
  const { tenant } = story;

  // spec/flows.md R34
  it('posts one invoice of the usage of an account: 3 x 100 x 0.01 = 3', async () => {
    const accountId = await story.account('acme', { netTerm: 'Net 30' });
    const serviceId = await story.service('Calls');
    await story.send(...[1, 2, 3].map(() => usage('acme', serviceId)));
    const { run, invoices, lines } = await story.bill('2026-03');
    expect(run).to.include({ invoiceCount: 1, transactionCount: 3, problemCount: 0 });
    const [invoice] = invoices;
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
    expect(lines).to.deep.equal(['API calls 2026-03-15..2026-03-15 3']);
    const pdf = await tenant.get(`${external}/invoices/${invoice?.id}/pdf`).expect(200);
    expect(pdf.headers['content-disposition']).to.include('INV-000001.pdf');
    expect(Buffer.from(pdf.body).subarray(0, 5).toString()).to.equal('%PDF-');
    const again = await story.bill('2026-03');
    expect(again.run).to.include({ invoiceCount: 0, transactionCount: 0 });
  });

  it('marks the PDF of an invoice that was voided, and keeps the posted one', async () => {
    await story.account('acme');
    await story.send(usage('acme', await story.service('Calls')));
    const { run } = await story.bill('2026-03');
    const id = run.invoiceIds[0] ?? '';
    const read = async (): Promise<Buffer> => {
      const { body } = await tenant.get(`${external}/invoices/${id}/pdf`).expect(200);
      return body as Buffer;
    };
    const posted = await read();
    await story.voidInvoice(id);
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
    const accountId = await story.account('acme');
    const serviceId = await story.service('Seats', subscription('Seats', 10));
    await story.subscribe(accountId, [{ serviceId, ...every('Monthly') }], {
      startDate: '2026-03-11',
    });
    // 21 of the 31 days of March: 10 x 21 / 31 = 6.774... = 6.77.
    const march = await story.bill('2026-03');
    const april = await story.bill('2026-04');
    expect([...march.lines, ...april.lines]).to.deep.equal([
      'Seats 2026-03-11..2026-03-31 6.77',
      'Seats 2026-04-01..2026-04-30 10',
    ]);
  });

  // spec/flows.md R35
  it('writes nothing in a dry run, and shows the invoices', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(usage('acme', serviceId));
    const dry = await story.preview('2026-03');
    expect(dry.invoiceCount).to.equal(1);
    // Nobody has posted it.
    const status = { invoiceStatus: 'Draft', approvalStatus: 'Draft', invoiceNo: null };
    expect(dry.invoices?.[0]).to.include({ amount: 1, currency: 'USD', ...status });
    const list = await tenant.get(`${external}/invoices`).expect(200);
    expect(list.body.data.totalElements).to.equal(0);
  });

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
