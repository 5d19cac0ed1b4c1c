import { expect } from 'chai';
import { readInvoice, runBilling } from '../../support/billing/billing-run.js';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('invoices that are paid and voided', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let accountId: string;
  let serviceId: string;
  let count = 0;
  beforeEach(async () => {
    accountId = await createAccount(tenant, 'acme');
    serviceId = await createService(tenant, 'Calls');
  });

  /** An invoice of 100 calls x 0.01 x times, for one month. */
  const invoiceFor = async (month: string, times: number): Promise<string> => {
    const eventTimestamp = `${month}-15T00:00:00Z`;
    const dimensions = { api_calls: String(100 * times) };
    await send(tenant, usage('acme', serviceId, { eventTimestamp, dimensions }));
    count += 1;
    await waitUntilRated(tenant);
    const { invoiceIds } = await runBilling(tenant, `${month}-01`, `${month}-28`);
    expect(invoiceIds).to.have.length(1);
    return invoiceIds[0] ?? '';
  };
  const pay = async (amount: number, more: object = {}) => {
    count += 1;
    const { body } = await tenant
      .post(`${external}/payments`, {
        accountId,
        amount,
        currency: 'USD',
        paymentReference: `P-${count}`,
        paymentMethod: 'ACH',
        paymentDate: '2026-05-01',
        paymentType: 'Pay In',
        ...more,
      })
      .expect(201);
    return body as { id: string; balance: number; balanceStatus: string };
  };
  const state = async (id: string): Promise<string> => {
    const { paymentStatus, balance, items } = await readInvoice(tenant, id);
    return `${paymentStatus} ${balance} ${items.map((item) => 'balance' in item && item.balance).join()}`;
  };

  // spec/beyond.md R21
  it('pays the oldest due first, and keeps what is left', async () => {
    const first = await invoiceFor('2026-01', 1);
    const second = await invoiceFor('2026-02', 2);
    expect(await pay(1.5)).to.include({ balance: 0, balanceStatus: 'Applied' });
    expect([await state(first), await state(second)]).to.deep.equal([
      'Paid 0 0',
      'Partially Paid 1.5 1.5',
    ]);
    // 1.5 of 4 pays the rest of the second.
    expect(await pay(4)).to.include({ balance: 2.5, balanceStatus: 'Partially Applied' });
    expect(await state(second)).to.equal('Paid 0 0');
  });

  it('follows a payment that is changed, fails or is deleted', async () => {
    const first = await invoiceFor('2026-01', 1);
    const second = await invoiceFor('2026-02', 2);
    const { id } = await pay(3);
    const path = `${external}/payments/${id}`;
    const put = async (body: object) => (await tenant.put(path, body).expect(200)).body;
    // The latest application gives way: 1 for the first, 0.5 for the second.
    expect(await put({ amount: 1.5 })).to.include({ balance: 0, balanceStatus: 'Applied' });
    expect([await state(first), await state(second)]).to.deep.equal([
      'Paid 0 0',
      'Partially Paid 1.5 1.5',
    ]);
    expect(await put({ amount: 5 })).to.include({ balance: 2 });
    expect(await state(second)).to.equal('Paid 0 0');
    expect(await put({ paymentStatus: 'Failed' })).to.include({ balanceStatus: 'Unapplied' });
    expect([await state(first), await state(second)]).to.deep.equal(['Unpaid 1 1', 'Unpaid 2 2']);
    expect(await put({ paymentStatus: 'Completed' })).to.include({ balance: 2 });
    await tenant.delete(path).expect(204);
    expect([await state(first), await state(second)]).to.deep.equal(['Unpaid 1 1', 'Unpaid 2 2']);
  });

  // spec/beyond.md R21
  it('applies a payment to the invoices that are named', async () => {
    const { id } = await pay(3);
    const first = await invoiceFor('2026-01', 1);
    const second = await invoiceFor('2026-02', 2);
    const apply = (body: object) => tenant.post(`/v1/payments/${id}/apply`, body);
    const named = await apply({ invoices: [{ invoiceId: second, amount: 1.25 }] }).expect(200);
    expect(named.body).to.include({ balance: 1.75, balanceStatus: 'Partially Applied' });
    expect(named.body.invoices[0]).to.include({ invoiceId: second, amount: 1.25 });
    expect([await state(first), await state(second)]).to.deep.equal([
      'Unpaid 1 1',
      'Partially Paid 0.75 0.75',
    ]);
    const more = await apply({ invoices: [{ invoiceId: second, amount: 0.76 }] }).expect(409);
    // spec/beyond.md R544
    expect(more.body.error.message).to.equal('Only 0.75 of the invoice is left.');
    await apply({ invoices: [{ invoiceId: id }] }).expect(400);
    await apply({ invoices: [{ invoiceId: first }, { invoiceId: first, amount: 1 }] }).expect(409);
    await apply({ invoices: [{ invoiceId: second, amount: 0 }] }).expect(400);
    // 1 and 1 of an invoice of 1, whatever the letters of its id: more than is left.
    await apply({
      invoices: [
        { invoiceId: first, amount: 1 },
        { invoiceId: first.toUpperCase(), amount: 1 },
      ],
    })
      .expect(409)
      .expect(({ body }) => expect(body.error.message).to.include('Only 0.00 of the invoice'));
    const urn = await apply({ invoices: [{ invoiceId: `urn:uuid:${first}` }] }).expect(400);
    expect(urn.body.error.message).to.equal(
      `'invoices[0].invoiceId' names no invoice: 'urn:uuid:${first}'`,
    );
    const rest = await apply({}).expect(200);
    expect(rest.body).to.include({ balance: 0, balanceStatus: 'Applied' });
    const { body } = await tenant.get(`/v1/payments/${id}/applications`).expect(200);
    expect(body.invoices).to.have.length(2);
    await tenant.post(`/v1/payments/${accountId}/apply`, {}).expect(404);
    await tenant.get(`/v1/payments/${accountId}/applications`).expect(404);
    const pending = await pay(1, { paymentStatus: 'Pending' });
    await tenant.post(`/v1/payments/${pending.id}/apply`, {}).expect(409);
  });

  // spec/resources.md R34; spec/beyond.md R18
  it('a void invoice keeps its number, frees its payment and its usage', async () => {
    const id = await invoiceFor('2026-01', 1);
    const payment = await pay(1);
    const path = `/v1/invoices/${id}/void`;
    const { body } = await tenant.post(path, { reason: 'wrong' }).expect(200);
    expect(body).to.include({ invoiceStatus: 'Void', balance: 0, amount: 1 });
    expect(body).to.include({ voidReason: 'wrong', dueStatus: 'Settled' });
    const conflict = await tenant.post(path).expect(409);
    expect(conflict.body.error.code).to.equal('CONFLICT');
    await tenant.post(`/v1/invoices/${payment.id}/void`).expect(404);
    await tenant.post(`${path}?reason=wrong`).expect(400);
    await tenant.post(path, { reason: 'x'.repeat(1001) }).expect(400);
    await tenant.post(path, { cause: 'wrong' }).expect(400);
    const freed = await tenant.get(`${external}/payments/${payment.id}`).expect(200);
    expect(freed.body).to.include({ balance: 1, balanceStatus: 'Unapplied' });
    const again = await runBilling(tenant, '2026-01-01', '2026-01-31');
    expect(again).to.include({ invoiceCount: 1, transactionCount: 1 });
    const posted = await readInvoice(tenant, again.invoiceIds[0] ?? '');
    // What the void set free pays what replaces it.
    expect(posted).to.include({ invoiceNo: 'INV-000002', amount: 1, balance: 0 });
    expect(posted.paymentStatus).to.equal('Paid');
    const used = await tenant.get(`${external}/payments/${payment.id}`).expect(200);
    expect(used.body).to.include({ balance: 0, balanceStatus: 'Applied' });
    await tenant.delete(`${external}/accounts/${accountId}`).expect(409);
  });

  // spec/beyond.md R19
  it('what a void sets free pays what else is open, and then what is billed', async () => {
    const first = await invoiceFor('2026-01', 3);
    // 3 of 5 pay the first; the 2 that are left were never applied and stay.
    const { id } = await pay(5);
    const second = await invoiceFor('2026-02', 1);
    const third = await invoiceFor('2026-03', 1);
    const left = async () => (await tenant.get(`${external}/payments/${id}`).expect(200)).body;
    expect(await left()).to.include({ balance: 2 });
    expect([await state(second), await state(third)]).to.deep.equal(['Unpaid 1 1', 'Unpaid 1 1']);
    await tenant.post(`/v1/invoices/${first}/void`).expect(200);
    // 3 - 1 - 1 = 1 is free still, beside the 2.
    expect([await state(second), await state(third)]).to.deep.equal(['Paid 0 0', 'Paid 0 0']);
    expect(await left()).to.include({ balance: 3, balanceStatus: 'Partially Applied' });
    const { invoiceIds } = await runBilling(tenant, '2026-01-01', '2026-01-31');
    expect(await state(invoiceIds[0] ?? '')).to.equal('Partially Paid 2 2');
    expect(await left()).to.include({ balance: 2 });
    // All of it is used: what is billed later is not paid by what is left.
    const fourth = await invoiceFor('2026-04', 1);
    expect(await state(fourth)).to.equal('Unpaid 1 1');
  });

  it('a payment that failed since it was set free pays nothing', async () => {
    const first = await invoiceFor('2026-01', 1);
    const { id } = await pay(1);
    await tenant.post(`/v1/invoices/${first}/void`).expect(200);
    await tenant.put(`${external}/payments/${id}`, { paymentStatus: 'Failed' }).expect(200);
    const { invoiceIds } = await runBilling(tenant, '2026-01-01', '2026-01-31');
    expect(await state(invoiceIds[0] ?? '')).to.equal('Unpaid 1 1');
  });

  // spec/beyond.md R20
  it('explains an invoice down to its tiers and steps', async () => {
    const id = await invoiceFor('2026-01', 3);
    const { body } = await tenant.get(`/v1/invoices/${id}/explain`).expect(200);
    const [item] = body.items;
    expect(item).to.include({ parts: 1, sumOfParts: 3, exactAmount: 3, amount: 3, matches: true });
    expect(item.transactions[0].explanation.rows[0]).to.include({ quantity: '300', amount: '3' });
    const summary = await tenant.get(`/v1/invoices/${id}/explain?summaryOnly=true`).expect(200);
    expect(summary.body.items).to.deep.equal([]);
    await tenant.get(`/v1/invoices/${id}/explain?limit=0`).expect(400);
    await tenant.get(`/v1/invoices/${id}/explain?limit=-1`).expect(400);
    await tenant.get(`/v1/invoices/${accountId}/explain`).expect(404);
  });
});
