import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { utcDate } from '../../../src/kernel/time/date.js';
import { listInvoices } from '../../../src/queries/billing/invoice.js';
import { storeInvoice } from '../../support/billing/invoices.js';
import { usage } from '../../support/billing/usage.js';
import { until } from '../../start/workbench.js';
import { asOwner, rowsRead } from '../../support/servers/rows.js';
import { external } from '../../support/servers/instance.js';
import { useStory } from '../../support/story/story.js';

const invoices = `${external}/invoices`;

describe('the status of invoices', () => {
  const story = useStory({ forEachTest: true, isAlone: true });
  const { tenant } = story;

  const read = async (query: string) => {
    const { body } = await tenant.get(`${invoices}?${query}`).expect(200);
    const { content, totalElements } = body.data;
    const numbers = (content as { InvoiceNo: string }[]).map(({ InvoiceNo }) => InvoiceNo);
    return { numbers, totalElements };
  };

  // spec/beyond.md R452
  it('is what a list may be asked for: open, overdue, paid or void', async () => {
    const accountId = await story.account('acme');
    const open = { amount: '10', balance: '10', dueDate: '2026-05-01' };
    const all = {
      'INV-1': open,
      'INV-2': { ...open, dueDate: '2999-01-01' },
      'INV-3': { ...open, dueDate: null },
      // Due today: overdue from tomorrow on.
      'INV-4': { ...open, dueDate: utcDate(new Date()) },
      'INV-5': { amount: '10', balance: '0', paymentStatus: 'Paid', dueDate: '2026-05-01' },
      'INV-6': { amount: '10', balance: '4', paymentStatus: 'Partially Paid' },
      'INV-7': { amount: '10', invoiceStatus: 'Void', voidedAt: new Date() },
      // What is owed to the customer is open, and never overdue.
      'CN-8': { ...open, amount: '-10', balance: '-10', invoiceType: 'Credit Note' },
      // Nobody pays a note: it takes off its invoice.
      'CN-9': {
        amount: '10',
        balance: '0',
        paymentStatus: 'Paid',
        invoiceType: 'Credit Note',
        creditedInvoiceId: newId(),
      },
      // Nothing is left to pay of what is credited whole, nor of what comes to nothing.
      'INV-10': { amount: '10', creditedAmount: '10', balance: '0', paymentStatus: 'Paid' },
      'INV-11': { amount: '0', balance: '0', paymentStatus: 'Paid' },
    };
    for (const [index, [invoiceNo, more]] of Object.entries(all).entries()) {
      const invoiceDate = `2026-04-${String(30 - index)}`;
      await storeInvoice(tenant.scope, { invoice: { invoiceNo, accountId, invoiceDate, ...more } });
    }
    const found = async (status: string) => (await read(`status=${status}`)).numbers;
    expect(await found('open')).to.deep.equal([
      'INV-1',
      'INV-2',
      'INV-3',
      'INV-4',
      'INV-6',
      'CN-8',
    ]);
    expect(await found('overdue')).to.deep.equal(['INV-1']);
    expect(await found('paid')).to.deep.equal(['INV-5', 'INV-10', 'INV-11']);
    expect(await found('void')).to.deep.equal(['INV-7']);
    expect(await read('status=open&size=2&page=1')).to.deep.equal({
      numbers: ['INV-3', 'INV-4'],
      totalElements: 6,
    });
    const more = `accountId=${accountId}&q=cn&fromDate=2026-04-01&toDate=2026-04-30`;
    expect((await read(`status=open&${more}`)).numbers).to.deep.equal(['CN-8']);
    const { body } = await tenant.get(`${invoices}?status=late`).expect(400);
    expect(body.message).to.include("'status'");
  });

  // docs/decisions/0468
  it('is counted by an index alone where most invoices have it, or a day decides', async () => {
    await asOwner(story.instance.databaseUrl, async (client) => {
      // Triggers would take longer than all the rest.
      await client.query('set session_replication_role = replica');
      // Of each hundred one is overdue, nine are notes and ninety are paid.
      await client.query(
        `insert into invoice (tenant_id, id, invoice_no, invoice_date, due_date, account_id,
           period_start, period_end, invoice_status, invoice_type, currency, amount, balance,
           payment_status, credited_invoice_id, credit_reason)
         select $1, gen_random_uuid(), 'INV-' || n, date '2026-01-01' + n % 300, '2026-05-01',
           gen_random_uuid(), date '2026-01-01' + n % 300, date '2026-01-01' + n % 300, 'Posted', 'Invoice', 'USD', 10, case n % 100 when 0 then 10 else 0 end,
           case n % 100 when 0 then 'Unpaid' else 'Paid' end,
           case when n % 100 between 1 and 9 then gen_random_uuid() end, repeat('x', 500)
         from generate_series(1, 20000) as n`,
        [tenant.id],
      );
      // An index answers alone what every transaction sees: one that began before may be under way.
      const isSeen = async () => {
        await client.query('vacuum analyze invoice');
        const { rows } = await client.query<{ isSeen: boolean }>(
          `select relallvisible = relpages as "isSeen" from pg_class where relname = 'invoice'`,
        );
        return rows[0]?.isSeen;
      };
      await until(isSeen, 20_000, 'a vacuum that marks all invoices as seen by everybody');
    });
    const { scope } = tenant;
    const page = { limit: 20, offset: 0 };
    // 10, 310, …, 19,810: 67 have this day, and all of them are paid.
    const day = { periodFromDate: '2026-01-11', periodToDate: '2026-01-11' };
    for (const [filter, total] of [
      [{ status: 'paid' }, 18_000],
      [{ status: 'overdue' }, 200],
      // spec/beyond.md R563
      [day, 67],
      [{ ...day, status: 'paid' }, 67],
    ] as const) {
      await scope.db.transaction(async (trx) => {
        const before = await rowsRead(trx, 'invoice');
        const within = { ...scope, db: { ...scope.db, read: trx } };
        const found = await listInvoices(within, page, filter);
        const name = JSON.stringify(filter);
        expect(found.total, name).to.equal(total);
        // Those of the page, and none to count the others.
        expect((await rowsRead(trx, 'invoice')) - before, name).to.equal(20);
      });
    }
  });

  // spec/beyond.md R451
  it('says what was paid: the total less that is what is credited and open', async () => {
    const accountId = await story.account('acme');
    const calls = await story.service('Calls');
    // 1,000 calls at 0.01 are 10.00.
    await story.send(usage('acme', calls, { dimensions: { api_calls: '1000' } }));
    const { invoices: posted } = await story.bill('2026-03');
    const id = posted[0]?.id;
    const shown = async () => {
      const { body } = await tenant.get(`${invoices}/${id}`).expect(200);
      const { body: row } = await tenant.get(`${invoices}?status=open`).expect(200);
      const [listed] = row.data.content as { PaidAmount: number }[];
      const { paidAmount, creditedAmount, balance } = body;
      return { paidAmount, creditedAmount, balance, listed: listed?.PaidAmount };
    };
    expect(await shown()).to.deep.equal({
      paidAmount: 0,
      creditedAmount: 0,
      balance: 10,
      listed: 0,
    });
    await story.pay(accountId, 4);
    expect(await shown()).to.deep.include({ paidAmount: 4, balance: 6, listed: 4 });
    const { body: whole } = await tenant.get(`${invoices}/${id}`).expect(200);
    const items = [{ itemId: whole.items[0].id as string, amount: 2.5 }];
    const note = { reason: 'Too dear.', items };
    const { body: noted } = await tenant.post(`/v1/invoices/${id}/credit-notes`, note).expect(201);
    expect(await shown()).to.include({ paidAmount: 4, creditedAmount: 2.5, balance: 3.5 });
    // Nobody pays a note: it takes off the invoice.
    expect(noted).to.include({ paidAmount: 0, balance: 0 });
    await story.voidInvoice(noted.id as string);
    await story.voidInvoice(id);
    expect(await shown()).to.deep.equal({
      paidAmount: 0,
      creditedAmount: 0,
      balance: 0,
      listed: undefined,
    });
  });
});
