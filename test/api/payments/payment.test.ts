import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const payments = `${external}/payments`;

describe('payments', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let accountId: string;
  before(async () => {
    const account = await tenant.post(`${external}/accounts`, { name: 'Acme' }).expect(201);
    accountId = account.body.id;
  });

  let count = 0;
  const payment = (changes: object = {}) => {
    count += 1;
    return {
      accountId,
      currency: 'US Dollar',
      paymentReference: `P-${count}`,
      paymentMethod: 'bank transfer',
      paymentDate: '2026-03-31',
      paymentType: 'pay in',
      ...changes,
    };
  };
  const executions = async () => {
    const { rows } = await instance.platform.database
      .forTenant(tenant.id, { actor: 'tester', requestId: 'test' })
      .read.raw<{ rows: { workflow: string; status: string; error: object | null }[] }>(
        'select workflow, status, error from execution order by started_at, id',
      );
    return rows;
  };

  it('by wallet are refused with the reason, through any API', async () => {
    const reason = /not possible yet: nothing would be taken from the wallet/;
    const saved = await tenant
      .post(payments, payment({ amount: 5, paymentMethod: 'wallet' }))
      .expect(400);
    expect(saved.body.message).to.match(reason);
    const other = await tenant.post(payments, payment({ amount: 5 })).expect(201);
    const changed = await tenant
      .put(`${payments}/${other.body.id}`, { paymentMethod: 'Wallet' })
      .expect(400);
    expect(changed.body.message).to.match(reason);
    const start = {
      account_id: accountId,
      amount: 5,
      currency_id: 'USD',
      payment_date: '2026-03-31',
      payment_method: 'Wallet',
      payment_reference: 'by flow',
    };
    for (const query of ['', '?draftMode=true']) {
      const path = `${external}/run/billing/payment/create${query}`;
      const { body } = await tenant.post(path, start).expect(400);
      expect(body.message).to.match(reason);
    }
    const executed = await tenant
      .post('/v1/workflows/payment-save/execute', { data: start })
      .expect(200);
    expect(executed.body.status).to.equal('failed');
    expect(executed.body.error.message).to.match(reason);
  });

  it('by wallet that an earlier release saved stay as they are', async () => {
    const { body } = await tenant
      .post(payments, payment({ amount: 5, paymentStatus: 'Pending' }))
      .expect(201);
    await instance.platform.database
      .forTenant(tenant.id, { actor: 'tester', requestId: 'test' })
      .transaction((trx) =>
        trx.raw(`update payment set payment_method = 'Wallet' where id = ?`, [body.id]),
      );
    const path = `${payments}/${body.id}`;
    await tenant.put(path, { paymentMethod: 'Wallet', comments: 'kept' }).expect(200);
    await tenant.put(path, { paymentStatus: 'Completed' }).expect(400);
    await tenant.put(path, { paymentStatus: 'Cancelled' }).expect(200);
    await tenant.put(path, { paymentMethod: 'Cash', paymentStatus: 'Completed' }).expect(200);
  });

  describe('create', () => {
    // spec/resources.md R76; spec/flows.md R30
    it('saves the payment with its defaults and answers with all of it', async () => {
      const { body } = await tenant
        .post(payments, payment({ amount: 1250.75, comments: 'March', participantName: 'Ann' }))
        .expect(201);
      const { id, paymentReference, ...rest } = body;
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(paymentReference).to.equal(`P-${count}`);
      expect(rest).to.deep.equal({
        accountId,
        currency: 'USD',
        amount: 1250.75,
        paymentMethod: 'Bank Transfer',
        paymentType: 'Pay In',
        paymentDate: '2026-03-31',
        paymentStatus: 'Completed',
        balanceStatus: 'Unapplied',
        balance: 1250.75,
        glPaymentDate: null,
        paymentGlStatus: 'Pending',
        approvalStatus: 'Approved',
        isManualPayment: false,
        comments: 'March',
        participantName: 'Ann',
      });
      expect((await tenant.get(`${payments}/${id as string}`).expect(200)).body).to.deep.equal(
        body,
      );
    });

    // spec/resources.md R25
    it('keeps every digit of an amount', async () => {
      // 12345678901234567890.12 has 22 digits: a float would end in ...7168.
      const text = JSON.stringify(payment({ amount: 1 })).replace(
        '"amount":1',
        '"amount":12345678901234567890.12',
      );
      const created = await tenant.post(payments, text).expect(201);
      expect(created.text).to.include('"amount":12345678901234567890.12');
      expect(created.text).to.include('"balance":12345678901234567890.12');
    });

    it('refuses an amount that its currency cannot pay, and names it', async () => {
      for (const [currency, amount, rest] of [
        ['USD', 10.005, 'at most 2 places'],
        ['JPY', 100.5, 'it is paid in whole units'],
        ['KWD', 0.0001, 'at most 3 places'],
      ] as const) {
        const { body } = await tenant.post(payments, payment({ currency, amount })).expect(400);
        expect(body.message).to.include(
          `'amount' ${amount} has more decimal places than ${currency} has: ${rest}`,
        );
      }
      // Zeros at the end are no places.
      const text = JSON.stringify(payment({ amount: 1 })).replace('"amount":1', '"amount":1.5000');
      const { body: paid } = await tenant.post(payments, text).expect(201);
      await tenant.post(payments, payment({ currency: 'KWD', amount: 1.125 })).expect(201);
      const change = (body: object) => tenant.put(`${payments}/${paid.id}`, body);
      await change({ amount: 1.501 }).expect(400);
      await change({ currency: 'JPY' }).expect(400);
      await change({ currency: 'JPY', amount: 2 }).expect(200);
    });

    it('takes an absent amount for 0', async () => {
      const { body } = await tenant.post(payments, payment()).expect(201);
      expect(body).to.include({ amount: 0, balance: 0, balanceStatus: 'Unapplied' });
    });

    for (const field of [
      'accountId',
      'currency',
      'paymentReference',
      'paymentMethod',
      'paymentDate',
      'paymentType',
    ]) {
      // spec/resources.md R74
      it(`refuses a payment without ${field}`, async () => {
        const { body } = await tenant.post(payments, payment({ [field]: undefined })).expect(400);
        expect(body.message).to.equal(`'${field}' is required`);
      });
    }

    // spec/flows.md R8
    it('refuses an account that does not exist, and keeps the execution', async () => {
      const { body } = await tenant.post(payments, payment({ accountId: newId() })).expect(400);
      expect(body.message).to.match(/'accountId' names no account/);
      expect(body).to.have.all.keys('status', 'error', 'message', 'path');
      expect((await executions()).at(-1)).to.deep.include({
        workflow: 'savePayment',
        status: 'failed',
      });
    });

    // spec/resources.md R75
    it('refuses a reference that is taken; it is free again when the payment is deleted', async () => {
      const first = payment({ amount: 1 });
      const { body } = await tenant.post(payments, first).expect(201);
      await tenant.post(payments, first).expect(409);
      await tenant.delete(`${payments}/${body.id as string}`).expect(204);
      await tenant.get(`${payments}/${body.id as string}`).expect(404);
      await tenant.post(payments, first).expect(201);
    });

    // spec/resources.md R75; spec/flows.md R29
    it('saves one of 50 that have the same reference and come at the same time', async () => {
      const same = payment({ amount: 5 });
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => tenant.post(payments, same)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 49 }, () => 409)]);
      const { body } = await tenant.get(`${payments}?q=${same.paymentReference}`).expect(200);
      expect(body.data.totalElements).to.equal(1);
    });
  });

  describe('an Idempotency-Key', () => {
    const keyed = (key: string, body: object) =>
      tenant.post(payments, body).set('Idempotency-Key', key);

    // spec/flows.md R33
    it('gives the same answer to the same request, however often and at the same time', async () => {
      const body = payment({ amount: 7 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => keyed('same', body)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 201));
      const later = await keyed('same', body).expect(201);
      for (const { text } of answers) expect(text).to.equal(later.text);
    });

    it('repeats a refusal too', async () => {
      const body = payment({ accountId: newId() });
      const first = await keyed('refused', body).expect(400);
      expect((await keyed('refused', body).expect(400)).text).to.equal(first.text);
    });

    it('is refused for another request', async () => {
      await keyed('other', payment({ amount: 1 })).expect(201);
      const { body } = await keyed('other', payment({ amount: 1 })).expect(409);
      expect(body.message).to.match(/Idempotency-Key/);
    });

    it('must be a sane token', async () => {
      await keyed('with space', payment()).expect(400);
      await keyed('', payment()).expect(400);
      await keyed('x'.repeat(256), payment()).expect(400);
    });
  });

  describe('change', () => {
    it('changes what is given and moves the balance with the amount', async () => {
      const { body } = await tenant.post(payments, payment({ amount: 10 })).expect(201);
      const path = `${payments}/${body.id as string}`;
      const changed = await tenant
        .put(path, { amount: 12.5, comments: 'Corrected', paymentStatus: 'refunded' })
        .expect(200);
      expect(changed.body).to.deep.equal({
        ...body,
        amount: 12.5,
        balance: 12.5,
        comments: 'Corrected',
        paymentStatus: 'Refunded',
      });
      // What was read can be sent back.
      expect((await tenant.put(path, changed.body).expect(200)).body).to.deep.equal(changed.body);
      const cleared = await tenant.put(path, { comments: null }).expect(200);
      expect(cleared.body.comments).to.equal(null);
    });

    // docs/decisions/0311
    it('does not make of null what moves money or says that it has arrived', async () => {
      const failed = { amount: 10, paymentStatus: 'Failed', paymentGlStatus: 'Posted' };
      const { body } = await tenant.post(payments, payment(failed)).expect(201);
      const path = `${payments}/${body.id as string}`;
      for (const field of ['amount', 'paymentStatus', 'paymentGlStatus']) {
        const refused = await tenant.put(path, { [field]: null }).expect(400);
        expect(refused.body.message).to.include(`'${field}'`);
      }
      const edit = { id: body.id, payment_status: null };
      await tenant.post(`${external}/run/billing/payment/edit`, edit).expect(400);
      expect((await tenant.get(path).expect(200)).body).to.deep.equal(body);
    });

    it('refuses a reference of another, an unknown account and null for what is required', async () => {
      const { body: first } = await tenant.post(payments, payment()).expect(201);
      const { body: second } = await tenant.post(payments, payment()).expect(201);
      const path = `${payments}/${second.id as string}`;
      await tenant.put(path, { paymentReference: first.paymentReference }).expect(409);
      await tenant.put(path, { accountId: newId() }).expect(400);
      await tenant.put(path, { currency: null }).expect(400);
      await tenant.put(`${payments}/${newId()}`, { amount: 1 }).expect(404);
      await tenant.delete(`${payments}/${newId()}`).expect(404);
    });
  });

  // spec/resources.md R77
  it('are listed with the latest first and found by reference, comments and participant', async () => {
    const other = await instance.tenant();
    const account = await other.post(`${external}/accounts`, { name: 'Other' }).expect(201);
    const make = (paymentDate: string, changes: object) =>
      other
        .post(payments, payment({ accountId: account.body.id, paymentDate, ...changes }))
        .expect(201);
    await make('2026-01-01', { paymentReference: 'first-1', comments: 'Rent' });
    await make('2026-03-01', { paymentReference: 'third-3', participantName: 'Bob 100%' });
    await make('2026-02-01', { paymentReference: 'second-2' });
    const references = async (query: string) =>
      (await other.get(`${payments}${query}`).expect(200)).body.data.content.map(
        (row: { PaymentReference: string }) => row.PaymentReference,
      );
    expect(await references('')).to.deep.equal(['third-3', 'second-2', 'first-1']);
    expect(await references('?q=SECOND')).to.deep.equal(['second-2']);
    expect(await references('?q=rent')).to.deep.equal(['first-1']);
    expect(await references('?q=0%25')).to.deep.equal(['third-3']);
    expect(await references('?size=1&page=1')).to.deep.equal(['second-2']);
    const { body } = await other.get(`${payments}?q=first`).expect(200);
    expect(body.data.content[0]).to.include({ __type__: 'Payment', AccountId: account.body.id });
    expect(body.data.content[0].PaymentStatus__r).to.deep.equal({ Name: 'Completed' });
  });

  it('are shown as rows on request', async () => {
    const { body } = await tenant.post(payments, payment({ amount: 3 })).expect(201);
    const row = await tenant.get(`${payments}/${body.id as string}?view=row`).expect(200);
    expect(row.body.data).to.include({ __type__: 'Payment', Id: body.id, Amount: 3 });
  });

  // spec/resources.md R34
  it('keep their account from being deleted', async () => {
    const account = await tenant.post(`${external}/accounts`, { name: 'Payer' }).expect(201);
    const path = `${external}/accounts/${account.body.id as string}`;
    const { body } = await tenant
      .post(payments, payment({ accountId: account.body.id }))
      .expect(201);
    const refused = await tenant.delete(path).expect(409);
    expect(refused.body.message).to.include(body.paymentReference);
    await tenant.delete(`${payments}/${body.id as string}`).expect(204);
    await tenant.delete(path).expect(204);
  });
});
