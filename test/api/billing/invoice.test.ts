import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { storeInvoice } from '../../support/billing/invoices.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const invoices = `${external}/invoices`;
/** What ends an item without tiers that nobody has credited. */
const uncredited = { tiers: [], creditedAmount: 0, creditedItemId: null, correctedInvoiceId: null };
const unexplained = { voidReason: null, creditReason: null, executionId: null };

describe('invoices', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let accountId: string;
  before(async () => {
    accountId = await createAccount('Acme');
  });

  const createAccount = async (name: string, owner = tenant): Promise<string> =>
    (await owner.post(`${external}/accounts`, { name }).expect(201)).body.id;

  // docs/decisions/0313
  it('have as many items in an answer as it may have bytes, and say where they go on', async () => {
    // 20,000 items of about 1.1 KB are 22 MB: a sign of the description has three bytes.
    const items = [{ description: '€'.repeat(255) }];
    const invoice = { invoiceNo: 'INV-LARGE', accountId };
    const id = await storeInvoice(tenant.scope, { invoice, items });
    await tenant.scope.db.transaction((trx) =>
      trx.raw(
        `insert into invoice_item select made.*
         from invoice_item as item cross join generate_series(1, 19999) as number
           cross join lateral jsonb_populate_record(
             item, jsonb_build_object('id', uuidv7(), 'position', number)) as made
         where item.invoice_id = ?`,
        [id],
      ),
    );
    for (const path of [`${invoices}/${id}`, `/v1/invoices/${id}/explain`]) {
      const seen: string[] = [];
      let answers = 0;
      for (let next: number | null = 0; next !== null; answers += 1) {
        const { body, text } = await tenant.get(`${path}?itemOffset=${next}`).expect(200);
        expect(Buffer.byteLength(text), path).to.be.below(16 * 1024 * 1024);
        seen.push(...(body.items as { id: string }[]).map((item) => item.id));
        next = body.nextItemOffset as number | null;
      }
      expect(new Set(seen).size, path).to.equal(20_000);
      expect(seen, path).to.have.length(20_000);
      expect(answers, path).to.be.within(2, 5);
      const beyond = await tenant.get(`${path}?itemOffset=20000`).expect(200);
      expect(beyond.body).to.deep.include({ items: [], nextItemOffset: null });
    }
  }).timeout(120_000);

  describe('lists', () => {
    let other: TestTenant;
    let acme: string;
    let ids: string[];
    before(async () => {
      other = await instance.tenant();
      acme = await createAccount('Acme', other);
      const bob = await createAccount('Bob', other);
      ids = [];
      // Not in the order of their dates; the last two are of one day.
      for (const [invoiceNo, invoiceDate, account] of [
        ['INV-2', '2026-02-28', acme],
        ['INV-1', '2026-01-31', acme],
        ['INV-3', '2026-03-31', bob],
        ['CN-4%', '2026-03-31', acme],
      ] as const) {
        const invoice = { invoiceNo, invoiceDate, accountId: account };
        ids.push(await storeInvoice(other.scope, { invoice }));
      }
    });

    const page = async (query: string) =>
      (await other.get(`${invoices}${query}`).expect(200)).body.data;
    const numbers = async (query: string) =>
      (await page(query)).content.map((row: { InvoiceNo: string }) => row.InvoiceNo);

    it('have the latest first', async () => {
      expect(await numbers('')).to.deep.equal(['INV-3', 'CN-4%', 'INV-2', 'INV-1']);
      expect(await numbers('?size=2&page=1')).to.deep.equal(['INV-2', 'INV-1']);
      expect(await page('?size=3')).to.include({ totalElements: 4, totalPages: 2, number: 0 });
      expect(await numbers('?page=9')).to.deep.equal([]);
    });

    for (const [query, expected] of [
      ['q=inv-', ['INV-3', 'INV-2', 'INV-1']],
      ['q=4%25', ['CN-4%']],
      ['q=INV_', []],
      ['q=', ['INV-3', 'CN-4%', 'INV-2', 'INV-1']],
      ['fromDate=2026-02-28', ['INV-3', 'CN-4%', 'INV-2']],
      ['toDate=2026-02-28', ['INV-2', 'INV-1']],
      ['fromDate=2026-02-28&toDate=2026-02-28', ['INV-2']],
      ['fromDate=2026-03-01&toDate=2026-03-30', []],
      ['fromDate=2026-02-01&toDate=2026-12-31&q=v&size=1', ['INV-3']],
    ] as const) {
      // spec/resources.md R82
      it(`take ${query}`, async () => {
        expect(await numbers(`?${query}`)).to.deep.equal(expected);
      });
    }

    it('take an account, alone and with the rest', async () => {
      expect(await numbers(`?accountId=${acme}`)).to.deep.equal(['CN-4%', 'INV-2', 'INV-1']);
      const rest = `accountId=${acme}&q=inv&fromDate=2026-02-01&toDate=2026-03-31`;
      expect(await numbers(`?${rest}`)).to.deep.equal(['INV-2']);
      expect((await page(`?${rest}`)).totalElements).to.equal(1);
      expect(await numbers(`?accountId=${newId()}`)).to.deep.equal([]);
    });

    for (const query of [
      'fromDate=2026-03-01&toDate=2026-02-28',
      'fromDate=2026-02-30',
      'toDate=yesterday',
      'accountId=acme',
      'size=0',
    ]) {
      // spec/resources.md R82
      it(`refuse ${query}`, async () => {
        const { body } = await other.get(`${invoices}?${query}`).expect(400);
        expect(body.message).to.include(`'${query.split('=')[0] ?? ''}'`);
      });
    }

    // spec/resources.md R7
    it('show header rows', async () => {
      const [row] = (await page('?q=INV-1')).content;
      expect(row).to.include({
        __type__: 'Invoice',
        Id: ids[1],
        InvoiceNo: 'INV-1',
        AccountId: acme,
        InvoiceDate: '2026-01-31',
        Amount: 0,
        ContractId: null,
        Total: 0,
        AccountName: 'Acme',
        DueStatus: 'Settled',
      });
      expect(row.ApprovalStatus).to.match(/^[0-9a-f-]{36}$/);
      expect(row.ApprovalStatus__r).to.deep.equal({ Name: 'Approved' });
      expect(row.PaymentStatus__r).to.deep.equal({ Name: 'Unpaid' });
      expect(row).to.not.have.property('Items');
    });
  });

  describe('one', () => {
    let id: string;
    let expected: Record<string, unknown>;
    const serviceId = newId();
    const [firstId, secondId] = [newId(), newId()];
    before(async () => {
      // 1500 calls at 0.02 are 30.00 and 10 % tax 3.00; the fee is 20.10: 50.10 and 3.00, 40 paid.
      id = await storeInvoice(tenant.scope, {
        invoice: {
          invoiceNo: 'INV-100',
          invoiceDate: '2026-04-01',
          dueDate: '2026-05-01',
          periodStart: '2026-03-01',
          periodEnd: '2026-03-31',
          accountId,
          amount: '50.10',
          taxAmount: '3.00',
          balance: '13.10',
          paymentStatus: 'Partially Paid',
        },
        items: [
          {
            id: secondId,
            serviceId,
            serviceName: 'Data API',
            serviceCode: 'data-api',
            description: 'API calls',
            volume: '1500',
            ratePerUnit: '0.02',
            amount: '30',
            tax: '3',
            balance: '0',
            priceMethodType: 'QUANTITY',
            billStartDate: '2026-03-01',
            billEndDate: '2026-03-31',
            unit: 'calls',
            chargedDays: 1,
            periodDays: 2,
          },
          { id: firstId, amount: '20.10', balance: '13.10', chargeType: 'OTC' },
        ],
      });
      expected = {
        id,
        invoiceNo: 'INV-100',
        invoiceDate: '2026-04-01',
        accountId,
        accountName: 'Acme',
        total: 53.1,
        dueStatus: 'Overdue',
        ...unexplained,
        creditedAmount: 0,
        paidAmount: 40,
        creditedInvoiceId: null,
        invoiceStatus: 'Posted',
        invoiceType: 'Invoice',
        amount: 50.1,
        taxAmount: 3,
        balance: 13.1,
        currency: 'USD',
        dueDate: '2026-05-01',
        periodStart: '2026-03-01',
        periodEnd: '2026-03-31',
        paymentStatus: 'Partially Paid',
        approvalStatus: 'Approved',
        contractId: null,
        invoiceFileName: null,
        nextItemOffset: null,
        items: [
          {
            id: secondId,
            invoiceId: id,
            serviceId,
            description: 'API calls',
            volume: 1500,
            ratePerUnit: 0.02,
            amount: 30,
            tax: 3,
            balance: 0,
            chargeType: 'Usage',
            priceMethodType: 'QUANTITY',
            billStartDate: '2026-03-01',
            billEndDate: '2026-03-31',
            serviceName: 'Data API',
            serviceCode: 'data-api',
            currency: 'USD',
            unit: 'calls',
            proration: { days: 1, of: 2, text: '1 of 2 days' },
            ...uncredited,
          },
          {
            id: firstId,
            invoiceId: id,
            serviceId: null,
            description: null,
            volume: 1,
            ratePerUnit: null,
            amount: 20.1,
            tax: 0,
            balance: 13.1,
            chargeType: 'OTC',
            priceMethodType: null,
            billStartDate: null,
            billEndDate: null,
            serviceName: null,
            serviceCode: null,
            currency: 'USD',
            unit: null,
            proration: null,
            ...uncredited,
          },
        ],
      };
    });

    // spec/resources.md R83
    it('is shown with its items in their order', async () => {
      const { body } = await tenant.get(`${invoices}/${id}`).expect(200);
      expect(body).to.deep.equal(expected);
    });

    // spec/resources.md R8
    it('is shown as a row on request, its items as they are', async () => {
      const { body } = await tenant.get(`${invoices}/${id}?view=row`).expect(200);
      const { data } = body;
      expect(data).to.include({
        __type__: 'Invoice',
        Id: id,
        InvoiceNo: 'INV-100',
        AccountId: accountId,
        Amount: 50.1,
        TaxAmount: 3,
        Total: 53.1,
        Balance: 13.1,
        InvoiceFileName: null,
      });
      expect(data.InvoiceStatus__r).to.deep.equal({ Name: 'Posted' });
      expect(data.InvoiceType__r).to.deep.equal({ Name: 'Invoice' });
      expect(data.PaymentStatus__r).to.deep.equal({ Name: 'Partially Paid' });
      expect(data.PaymentStatus).to.match(/^[0-9a-f-]{36}$/);
      expect(data.Currency__r).to.deep.equal({ Name: 'USD' });
      expect(data.Items).to.deep.equal(expected['items']);
      await tenant.get(`${invoices}/${id}?view=other`).expect(400);
    });

    it('keeps every digit of its amounts', async () => {
      const invoice = { invoiceNo: 'INV-101', accountId, amount: '12345678901234567890.12' };
      const large = await storeInvoice(tenant.scope, { invoice });
      const { text } = await tenant.get(`${invoices}/${large}`).expect(200);
      expect(text).to.include('"amount":12345678901234567890.12');
    });

    it('is 404 when there is none', async () => {
      await tenant.get(`${invoices}/${newId()}`).expect(404);
      await tenant.get(`${invoices}/none`).expect(404);
      const { body } = await tenant.get(`${invoices}/${newId()}/pdf`).expect(404);
      expect(body).to.include({ status: 404, error: 'Not Found' });
      await tenant.get(`${invoices}/none/pdf`).expect(404);
    });

    // spec/resources.md R84
    it('has no PDF before one is made', async () => {
      const { body } = await tenant.get(`${invoices}/${id}/pdf`).expect(404);
      expect(body.message).to.match(/no PDF of the invoice 'INV-100'/);
    });
  });

  describe('their PDF', () => {
    // Not UTF-8: a text conversion on the way would break it.
    const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x0a, 0xff, 0x00, 0xfe, 0x0d, 0x0a, 0x80]);
    let count = 0;
    const store = (fileName: string, content = bytes) => {
      count += 1;
      const invoice = { invoiceNo: `PDF-${count}`, accountId };
      return storeInvoice(tenant.scope, { invoice, pdf: { fileName, bytes: content } });
    };

    // spec/resources.md R84
    it('is sent as it is stored', async () => {
      const id = await store('INV-100.pdf');
      const { body, headers } = await tenant.get(`${invoices}/${id}/pdf`).expect(200);
      expect(bytes.equals(body as Buffer)).to.equal(true);
      expect(headers).to.include({
        'content-type': 'application/pdf',
        'content-length': '11',
        'content-disposition': 'attachment; filename=INV-100.pdf',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      const shown = await tenant.get(`${invoices}/${id}`).expect(200);
      expect(shown.body.invoiceFileName).to.equal('INV-100.pdf');
    });

    it('may be a megabyte', async () => {
      const large = Buffer.alloc(1024 * 1024, bytes);
      const id = await store('large.pdf', large);
      const { body } = await tenant.get(`${invoices}/${id}/pdf`).expect(200);
      expect(large.equals(body as Buffer)).to.equal(true);
    });

    for (const [name, fileName, expected] of [
      ['spaces', 'Invoice 1.pdf', 'attachment; filename="Invoice 1.pdf"'],
      ['quotes and backslashes', 'a"b\\c.pdf', 'attachment; filename="a\\"b\\\\c.pdf"'],
      [
        // U+8ACB U+6C42 is E8 AB 8B E6 B1 82 in UTF-8.
        'what ASCII has not',
        '請求.pdf',
        `attachment; filename="??.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82.pdf`,
      ],
      [
        'line breaks: no header of its own',
        'a\r\nSet-Cookie: x=1.pdf',
        `attachment; filename="a??Set-Cookie: x=1.pdf"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x%3D1.pdf`,
      ],
    ] as const) {
      it(`may have a name with ${name}`, async () => {
        const id = await store(fileName);
        const { headers } = await tenant.get(`${invoices}/${id}/pdf`).expect(200);
        expect(headers['content-disposition']).to.equal(expected);
        expect(headers).to.not.have.property('set-cookie');
      });
    }
  });

  describe('are stored so that', () => {
    const messageOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'stored',
        (error: Error) => error.message,
      );

    it('a number is given once in a tenant', async () => {
      const invoice = { invoiceNo: 'ONCE-1', accountId };
      await storeInvoice(tenant.scope, { invoice });
      expect(await messageOf(storeInvoice(tenant.scope, { invoice }))).to.match(/invoice_no/);
    });

    it('no more is open than the total, and nothing of a void one', async () => {
      for (const [changes, constraint] of [
        [{ amount: '10', taxAmount: '1', balance: '11.01' }, /invoice_balance/],
        [{ amount: '10', balance: '-0.01' }, /invoice_balance/],
        [{ amount: '10', balance: '10', invoiceStatus: 'Void', voidedAt: new Date() }, /_void/],
        [{ invoiceStatus: 'Void' }, /invoice_void/],
      ] as const) {
        const invoice = { invoiceNo: 'BAD-1', accountId, ...changes };
        expect(await messageOf(storeInvoice(tenant.scope, { invoice }))).to.match(constraint);
      }
    });
  });
});
