import { expect } from 'chai';
import { lockOpenInvoices } from '../../../src/commands/payments/open-invoices.js';
import { PaymentApplication } from '../../../src/models/payments/payment-application.js';
import { readAppliedPayments } from '../../../src/queries/payments/payment-application.js';
import { Decimal } from '../../../src/kernel/numbers/money.js';
import { until } from '../../start/workbench.js';
import { makeAccount } from '../../support/billing/accounts.js';
import { storeInvoice } from '../../support/billing/invoices.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { asOwner, rowsRead } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** The invoices of an account, each of 1.00 and due a day after the one before it. */
const count = 1_000;

describe('an account with a thousand open invoices', () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let accountId = '';
  /** Copies of the first one with these numbers. */
  const addInvoices = (from: number, to: number, { id } = tenant) =>
    asOwner(instance.databaseUrl, (client) =>
      client.query(
        `insert into invoice select made.*
         from invoice as i, generate_series($2::int, $3::int) as n, lateral jsonb_populate_record(i,
           jsonb_build_object('id', gen_random_uuid(), 'invoice_no', 'I-' || n,
             'due_date', date '2001-01-01' + n)) as made
         where i.tenant_id = $1 and i.invoice_no = 'I-0'`,
        [id, from, to],
      ),
    );
  /** The account of a tenant, which owes the invoices. */
  const makeDebtor = async (of: TestTenant): Promise<string> => {
    const { id } = await makeAccount(of, { name: 'Debtor' });
    const one = { accountId: id, amount: '1', balance: '1', invoiceNo: 'I-0' };
    await storeInvoice(of.scope, { invoice: { ...one, dueDate: '2001-01-01' } });
    await addInvoices(1, count - 1, of);
    return id;
  };
  beforeEach(async () => {
    accountId = await makeDebtor(tenant);
  });

  /** One that is due before the others. */
  const store = (invoiceNo: string, amount: string) =>
    storeInvoice(tenant.scope, {
      invoice: { accountId, amount, balance: amount, invoiceNo, dueDate: '2000-01-01' },
    });

  const numbersOf = async (ids: readonly string[]): Promise<string[]> => {
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ number: string }>(
        `select invoice_no as number from unnest($1::uuid[]) with ordinality as given (id, place)
         join invoice using (id) order by place`,
        [ids],
      ),
    );
    return rows.map(({ number }) => number);
  };
  const numbers = (upTo: number): string[] =>
    Array.from({ length: upTo }, (_each, index) => `I-${index}`);

  /** The balances of its invoices, from the first due on: how many have which. */
  const balances = async (): Promise<string[]> => {
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ balance: string; count: string }>(
        `select trim_scale(balance)::text as balance, count(*) from invoice
         where tenant_id = $1 and account_id = $2 and invoice_no like 'I-%'
         group by 1 order by min(due_date)`,
        [tenant.id, accountId],
      ),
    );
    return rows.map(({ balance, count: many }) => `${many} of ${balance}`);
  };
  const pay = (amount: number, by: TestTenant = tenant, account = accountId) =>
    by
      .post(`${external}/payments`, {
        accountId: account,
        amount,
        currency: 'USD',
        paymentReference: `P-${amount}`,
        paymentMethod: 'ACH',
        paymentDate: '2026-05-01',
        paymentType: 'Pay In',
      })
      .expect(201);

  it('has as many read and held as an amount pays, the oldest due first', async () => {
    const found = await tenant.scope.db.transaction((trx) =>
      lockOpenInvoices(
        trx,
        tenant.id,
        ['5', '250', '5000'].map((amount) => ({
          accountId,
          currency: 'USD',
          invoiceType: 'Invoice',
          amount: new Decimal(amount),
          most: 1_000,
        })),
      ),
    );
    expect(found.map(({ length }) => length)).to.deep.equal([100, 800, 1_000]);
    const [few = []] = found;
    expect(await numbersOf(few.map(({ id }) => id))).to.deep.equal(numbers(100));
  });

  it('has none of other currencies, kinds and accounts', async () => {
    const other = (await makeAccount(tenant, { name: 'Other' })).id;
    const amount = new Decimal(1);
    const usd = { accountId, currency: 'USD', invoiceType: 'Invoice', amount, most: 1_000 };
    const books = [
      { ...usd, currency: 'EUR' },
      { ...usd, invoiceType: 'Credit Note' },
      { ...usd, accountId: other },
      usd,
    ];
    const found = await tenant.scope.db.transaction((trx) =>
      lockOpenInvoices(trx, tenant.id, books),
    );
    expect(found.map(({ length }) => length)).to.deep.equal([0, 0, 0, 100]);
  });

  // spec/beyond.md R21
  it('is paid from the oldest due on, by a payment that pays more than are read at first', async () => {
    expect((await pay(150.25)).body).to.include({ balance: 0, balanceStatus: 'Applied' });
    expect(await balances()).to.deep.equal(['150 of 0', '1 of 0.75', '849 of 1']);
  });

  it('is paid by what a void gives back, in the same order', async () => {
    const invoice = {
      accountId,
      amount: '130.5',
      balance: '130.5',
      invoiceNo: 'BIG',
      dueDate: '2000-01-01',
    };
    const big = await storeInvoice(tenant.scope, { invoice });
    expect((await pay(130.5)).body).to.include({ balance: 0 });
    expect(await balances()).to.deep.equal(['1000 of 1']);
    await tenant.post(`/v1/invoices/${big}/void`).expect(200);
    expect(await balances()).to.deep.equal(['130 of 0', '1 of 0.5', '869 of 1']);
  });

  // spec/beyond.md R613
  it('is paid a thousand at once by one payment, the next by applying it again', async () => {
    await addInvoices(count, count + 149);
    const { body } = await pay(2_000);
    expect(body).to.include({ balance: 1_000, balanceStatus: 'Partially Applied' });
    expect(await balances()).to.deep.equal(['1000 of 0', '150 of 1']);
    const applied = await tenant.post(`/v1/payments/${body.id}/apply`, {}).expect(200);
    expect(applied.body).to.include({ balance: 850 });
    expect(applied.body.invoices).to.have.length(1_150);
    expect(await balances()).to.deep.equal(['1150 of 0']);
    // Less money covers the first of them.
    await tenant.put(`${external}/payments/${body.id}`, { amount: 1_100 }).expect(200);
    expect(await balances()).to.deep.equal(['1100 of 0', '50 of 1']);
    await tenant.delete(`${external}/payments/${body.id}`).expect(204);
    expect(await balances()).to.deep.equal(['1150 of 1']);
  });

  // spec/beyond.md R613
  it('is paid ten thousand in all by one payment', async () => {
    await addInvoices(count, 10_001);
    const { body } = await pay(20_000);
    for (let turn = 0; turn < 10; turn += 1) {
      await tenant.post(`/v1/payments/${body.id}/apply`, {}).expect(200);
    }
    expect(await balances()).to.deep.equal(['10000 of 0', '2 of 1']);
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ id: string }>(
        `select id from invoice where tenant_id = $1 and balance > 0 order by due_date`,
        [tenant.id],
      ),
    );
    const invoices = [{ invoiceId: rows[0]?.id }];
    const refused = await tenant.post(`/v1/payments/${body.id}/apply`, { invoices }).expect(409);
    expect(refused.body.error.message).to.equal(
      'A payment pays 10000 invoices at the most, and this one would pay 10001: save another one for what is left.',
    );
    const shown = await tenant.get(`/v1/payments/${body.id}/applications`).expect(200);
    expect(shown.body.invoices).to.have.length(10_000);
    expect((await pay(1)).body).to.include({ balance: 0 });
    expect(await balances()).to.deep.equal(['10001 of 0', '1 of 1']);
  });

  // spec/beyond.md R613
  it('is paid by the thousand oldest of the payments that a void gives back, then by the others', async () => {
    const big = await store('BIG', '1050');
    expect((await pay(1)).body).to.include({ balance: 0 });
    // The rest of it is paid by copies of that payment, the last fifty of them a day later.
    await asOwner(instance.databaseUrl, async (client) => {
      await client.query(
        `insert into payment select made.*
         from payment, generate_series(2, 1050) as n, lateral jsonb_populate_record(payment,
           jsonb_build_object('id', gen_random_uuid(), 'payment_reference', 'copy ' || n,
             'payment_date', date '2026-05-01' + (n > 1000)::integer)) as made
         where payment.tenant_id = $1`,
        [tenant.id],
      );
      await client.query(
        `insert into payment_application (tenant_id, id, payment_id, invoice_id, amount)
         select $1, gen_random_uuid(), id, $2, 1 from payment
         where tenant_id = $1 and payment_reference like 'copy %'`,
        [tenant.id, big],
      );
      await client.query(
        `update invoice set balance = 0, payment_status = 'Paid' where tenant_id = $1 and id = $2`,
        [tenant.id, big],
      );
    });
    await addInvoices(count, count + 49);
    expect(await balances()).to.deep.equal(['1050 of 1']);
    const preview = await tenant.post(`/v1/invoices/${big}/void/preview`).expect(200);
    expect(preview.body.payments).to.have.length(1_000);
    await tenant.post(`/v1/invoices/${big}/void`).expect(200);
    expect(await balances()).to.deep.equal(['1000 of 0', '50 of 1']);
    const unapplied = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ day: string; count: number }>(
        `select payment_date::text as day, count(*)::integer as count from payment
         where tenant_id = $1 and balance = 1 and balance_status = 'Unapplied' and freed = 1 group by 1`,
        [tenant.id],
      ),
    );
    expect(unapplied.rows).to.deep.equal([{ day: '2026-05-02', count: 50 }]);
    await tenant.post(`/v1/invoices/${await store('SMALL', '1')}/void`).expect(200);
    expect(await balances()).to.deep.equal(['1050 of 0']);
  });

  it('is paid without looking at each invoice for each, where statistics know nothing of the tenant', async () => {
    await asOwner(instance.databaseUrl, (client) => client.query('analyze'));
    const other = await instance.tenant();
    const book = {
      accountId: await makeDebtor(other),
      currency: 'USD',
      invoiceType: 'Invoice',
      amount: new Decimal(count),
      most: count,
    };
    const payer = await makeAccount(other, { name: 'Payer' });
    const paymentId: string = (await pay(count, other, payer.id)).body.id;
    const read = await other.scope.db.transaction(async (trx) => {
      const [open = []] = await lockOpenInvoices(trx, other.id, [book]);
      const before = await rowsRead(trx, 'invoice');
      const amount = new Decimal(1);
      const applications = open.map(({ id }) => ({ paymentId, invoiceId: id, amount }));
      await PaymentApplication.add(trx, other.id, applications);
      const [paid] = await readAppliedPayments(trx, other.id, [paymentId]);
      expect(paid?.invoices).to.have.length(count);
      return (await rowsRead(trx, 'invoice')) - before;
    });
    // Each a few times, as triggers and foreign keys look up rows, too; each for each were half a million.
    expect(read).to.be.at.most(50 * count);
  });

  it('is owed what it is where a payment is deleted while another one is applied', async () => {
    const first: string = (await pay(0.25)).body.id;
    const payer = await makeAccount(tenant, { name: 'Payer' });
    const paymentId: string = (await pay(0.75, tenant, payer.id)).body.id;
    const amount = new Decimal('0.75');
    const book = { accountId, currency: 'USD', invoiceType: 'Invoice', amount, most: 1 };
    const isWaiting = async (): Promise<boolean> => {
      const { rowCount } = await asOwner(instance.databaseUrl, (client) =>
        client.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      );
      return rowCount !== 0;
    };
    const deleted = await tenant.scope.db.transaction(async (trx) => {
      const [[open] = []] = await lockOpenInvoices(trx, tenant.id, [book]);
      await PaymentApplication.add(trx, tenant.id, [
        { paymentId, invoiceId: open?.id ?? '', amount },
      ]);
      const deleting = tenant.delete(`${external}/payments/${first}`).then(({ status }) => status);
      await until(isWaiting, 10_000, 'the wait of the deletion');
      return { deleting };
    });
    expect(await deleted.deleting).to.equal(204);
    // 1.00 less 0.75 of the one that stays.
    expect(await balances()).to.deep.equal(['1 of 0.25', '999 of 1']);
  });

  // spec/beyond.md R19, R613
  it('is paid by the rest of what a void gives back, when the next invoice is void', async () => {
    const big = await store('BIG', '1040');
    const { id, balance } = (await pay(1_040)).body;
    expect(balance).to.equal(0);
    await addInvoices(count, count + 49);
    await tenant.post(`/v1/invoices/${big}/void`).expect(200);
    expect(await balances()).to.deep.equal(['1000 of 0', '50 of 1']);
    const left = await tenant.get(`${external}/payments/${id}`).expect(200);
    expect(left.body).to.include({ balance: 40, balanceStatus: 'Partially Applied' });
    await tenant.post(`/v1/invoices/${await store('SMALL', '1')}/void`).expect(200);
    expect(await balances()).to.deep.equal(['1040 of 0', '10 of 1']);
  });
});
