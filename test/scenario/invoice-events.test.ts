import { expect } from 'chai';
import { runBilling, type BilledInvoice } from '../support/billing/billing-run.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { openReceiver, verify } from '../support/servers/receiver.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const events = ['invoice.paid', 'invoice.voided', 'invoice.overdue', 'payment.applied'];

interface Told {
  readonly event: string;
  readonly data: BilledInvoice & {
    readonly dueStatus: string;
    readonly voidReason: string | null;
    readonly invoices?: readonly { readonly invoiceId: string; readonly amount: number }[];
  };
}

describe('what webhooks are told of invoices', () => {
  let now = new Date('2026-04-01T08:00:00Z');
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      overdueMs: 50,
      now: () => now,
      tokenSeconds: 400 * 86_400,
    });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('a payment that a void set free, when it pays what replaces the void one', async () => {
    const other = await instance.tenant();
    const receiver = await openReceiver();
    const serviceId = await createService(other, 'Calls');
    const accountId = await createAccount(other, 'acme');
    await send(other, usage('acme', serviceId));
    await waitUntilRated(other, 1);
    const { invoiceIds } = await runBilling(other, '2026-03-01', '2026-03-31');
    const { body: payment } = await other
      .post(`${external}/payments`, {
        accountId,
        amount: 1,
        currency: 'USD',
        paymentDate: '2026-04-01',
        paymentMethod: 'Cash',
        paymentType: 'Pay In',
        paymentReference: 'freed',
      })
      .expect(201);
    await other.post('/v1/webhooks', { url: receiver.url, events, secret }).expect(201);
    await other.post(`/v1/invoices/${invoiceIds[0] ?? ''}/void`).expect(200);
    const again = await runBilling(other, '2026-03-01', '2026-03-31');
    const received = await receiver.until(({ length }) => length >= 3);
    await receiver.close();
    const told = received.map(({ payload }) => payload as unknown as Told);
    expect(told.map(({ event, data }) => [event, data.id])).to.have.deep.members([
      ['invoice.voided', invoiceIds[0]],
      ['payment.applied', payment.id],
      ['invoice.paid', again.invoiceIds[0]],
    ]);
  });

  it('payments that are applied, and what is paid, void and overdue, each once', async () => {
    const receiver = await openReceiver();
    await tenant.post('/v1/webhooks', { url: receiver.url, events, secret }).expect(201);
    const serviceId = await createService(tenant, 'Calls');
    const accounts: string[] = [];
    for (const name of ['pays', 'void', 'late']) {
      accounts.push(await createAccount(tenant, name, { netTerm: 'Net 7' }));
      await send(tenant, usage(name, serviceId));
    }
    await waitUntilRated(tenant, 3);
    await runBilling(tenant, '2026-03-01', '2026-03-31');
    const { body: list } = await tenant.get(`${external}/invoices`).expect(200);
    const idOf = (accountName: string): string =>
      list.data.content.find((row: { AccountName: string }) => row.AccountName === accountName).Id;
    const rows = list.data.content.map((row: { Total: number; DueStatus: string }) => [
      row.Total,
      row.DueStatus,
    ]);
    // 100 x 0.01 each.
    expect(rows).to.deep.equal(Array(3).fill([1, 'Not Due']));
    const pay = (amount: number, paymentReference: string) =>
      tenant
        .post(`${external}/payments`, {
          accountId: accounts[0],
          amount,
          currency: 'USD',
          paymentDate: '2026-04-02',
          paymentMethod: 'Cash',
          paymentType: 'Pay In',
          paymentReference,
        })
        .expect(201);
    const { body: first } = await pay(0.4, 'first');
    const { body: second } = await pay(0.7, 'second');
    await tenant.post(`/v1/invoices/${idOf('void')}/void`, { reason: 'not theirs' }).expect(200);
    // Due on 8 April: overdue on the 9th, and never told of again.
    now = new Date('2026-04-08T23:59:59Z');
    const before = await tenant.get(`${external}/invoices/${idOf('late')}`).expect(200);
    expect(before.body).to.include({ dueDate: '2026-04-08', dueStatus: 'Not Due' });
    now = new Date('2026-04-09T00:00:00Z');
    await receiver.until(({ length }) => length >= 5);
    now = new Date('2026-04-10T00:00:00Z');
    await pay(0.1, 'free');
    const received = await receiver.until(({ length }) => length >= 5);
    await receiver.close();
    for (const delivery of received) verify(secret, delivery);
    const told = received.map(({ payload }) => payload as unknown as Told);
    const inShort = told.map(({ event, data }) => [event, data.id, data.dueStatus ?? null]);
    expect(inShort).to.have.deep.members([
      ['payment.applied', first.id, null],
      ['payment.applied', second.id, null],
      ['invoice.paid', idOf('pays'), 'Settled'],
      ['invoice.voided', idOf('void'), 'Settled'],
      ['invoice.overdue', idOf('late'), 'Overdue'],
    ]);
    const applied = told.find(({ data }) => data.id === second.id);
    expect(applied?.data.invoices).to.have.length(1);
    expect(applied?.data.invoices?.[0]).to.include({ invoiceId: idOf('pays'), amount: 0.6 });
    expect(told.find(({ event }) => event === 'invoice.voided')?.data.voidReason).to.equal(
      'not theirs',
    );
  });
});
