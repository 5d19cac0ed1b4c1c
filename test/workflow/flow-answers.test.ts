import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { flowList, publicNameOf } from '../../src/schemas/flows/index.js';
import { examples } from '../../src/schemas/openapi/examples.js';
import { starts, type Ids } from '../support/billing/flow-starts.js';
import { storeInvoice } from '../support/billing/invoices.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { createWallet } from '../support/billing/wallets.js';
import { external, openTestInstance } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** Ids that are nobody's. */
const strangers = (): Ids => ({
  suffix: '',
  account: newId(),
  contract: newId(),
  service: newId(),
  payment: newId(),
});

describe('what nobody works on', () => {
  const instance = useInstance({ flowTimeoutMs: 50, kafka: null });
  const tenant = useTenant(instance);

  for (const [workflow, { slug }] of flowList) {
    // spec/flows.md R27, R39, R40
    it(`${slug} answers 504 with its execution, which goes on, and so does a batch of it`, async () => {
      const start = starts[workflow](strangers());
      for (const [path, body, name] of [
        [slug, start, publicNameOf(workflow)],
        [`${slug}/batch`, { data: [start] }, 'flow-batch'],
      ] as const) {
        const late = await tenant.post(`${external}/run/${path}`, body).expect(504);
        const { flowExecutionId, ...fault } = late.body;
        expect(fault).to.deep.equal({
          status: 504,
          error: 'Gateway Timeout',
          message: 'The work is not finished yet; it goes on in the background.',
          path: `uri=${external}/run/${path}`,
        });
        const shown = await tenant
          .get(`/v1/workflows/${name}/executions/${flowExecutionId as string}`)
          .expect(200);
        expect(shown.body).to.include({ status: 'running', completedAt: null });
      }
    });
  }

  /** What a request that waited for it in vain answers, but for its execution and the time. */
  const lateness = async (path: string, body: object) => {
    const { error } = (await tenant.post(path, body).expect(504)).body;
    const { code, message, details } = error;
    return { code, message, isFound: /^[0-9a-f-]{36}$/.test(details.flowExecutionId as string) };
  };
  const goesOn = {
    code: 'TIMEOUT',
    message: 'The work is not finished yet; it goes on in the background.',
    isFound: true,
  };

  // spec/flows.md R30
  it('a payment that is saved or deleted', async () => {
    const accountId = await createAccount(tenant, 'pays');
    const payment = { ...examples.payment, accountId };
    const path = `${external}/payments`;
    for (const late of [
      await tenant.post(path, payment),
      await tenant.put(`${path}/${newId()}`, examples.paymentUpdate),
      await tenant.delete(`${path}/${newId()}`),
    ]) {
      expect(late.status, late.text).to.equal(504);
      expect(late.body.message).to.equal(goesOn.message);
    }
  });

  // spec/beyond.md R490, R491
  it('a dismissal of rejected events, and prices that are put in force', async () => {
    const dismissal = { reason: 'never to be billed' };
    expect(await lateness('/v1/usage-events/dismiss', dismissal)).to.deep.equal(goesOn);
    const path = `/v1/repricings/${newId()}/promote`;
    expect(await lateness(path, { fromDate: '2999-01-01' })).to.deep.equal(goesOn);
  });

  // spec/beyond.md R352
  it('an approval that is decided', async () => {
    const id = await createService(tenant, 'Waits');
    expect(await lateness(`/v1/approvals/${id}`, { decision: 'approve' })).to.deep.equal(goesOn);
  });

  it('a credit note', async () => {
    const accountId = await createAccount(tenant, 'credited');
    const invoice = { invoiceNo: 'INV-1', accountId, amount: '5', balance: '5' };
    const id = await storeInvoice(tenant.scope, { invoice });
    const body = { reason: 'too late' };
    expect(await lateness(`/v1/invoices/${id}/credit-notes`, body)).to.deep.equal(goesOn);
  });

  // spec/beyond.md R243
  it('a clock that is moved', async () => {
    expect(await lateness('/v1/clock', { now: '2999-01-01' })).to.deep.equal(goesOn);
  });

  it('an event that is canceled, or amended', async () => {
    await createAccount(tenant, 'canceled');
    const serviceId = await createService(tenant, 'Calls');
    const busy = await openTestInstance({ withWorkers: true, beside: instance, kafka: null });
    let id: string | undefined;
    try {
      const working = await busy.tenant(undefined, tenant.id);
      [id] = await send(working, usage('canceled', serviceId));
      await waitUntilRated(working);
    } finally {
      await busy.close();
    }
    const body = { reason: 'sent twice' };
    expect(await lateness(`/v1/usage-events/${String(id)}/cancel`, body)).to.deep.equal(goesOn);
    const amendment = { reason: 'sent wrongly', message: usage('canceled', serviceId) };
    const path = `/v1/usage-events/${String(id)}/amend`;
    expect(await lateness(path, amendment)).to.deep.equal(goesOn);
  });

  // spec/beyond.md R271, R272
  it('a hold that is committed: the same request asks again, also where nothing was published', async () => {
    const accountId = await createAccount(tenant, 'held');
    const serviceId = await createService(tenant, 'Held calls');
    await createWallet(tenant, accountId, { balance: 20 });
    const hold = { accountId, currency: 'USD', amount: 5, expiresInSeconds: 600, key: 'late' };
    const { body: made } = await tenant.post('/v1/holds', hold).expect(201);
    const message = usage('held', serviceId, { eventTimestamp: new Date().toISOString() });
    const commit = async (status: number) => {
      const path = `/v1/holds/${made.id as string}/commit`;
      const { code, message: said } = (await tenant.post(path, { message }).expect(status)).body
        .error;
      return [code, said];
    };
    const asOwnerDo = (sql: string) => asOwner(instance.databaseUrl, (client) => client.query(sql));
    await asOwnerDo(`
      create function refuse_message() returns trigger language plpgsql as $$
      begin
        raise exception 'The log takes nothing.';
      end $$;
      create trigger refuse_message before insert on usage_message
        execute function refuse_message()`);
    expect(await commit(502)).to.deep.equal([
      'BAD_GATEWAY',
      'The event could not be published to the broker; send it again.',
    ]);
    await asOwnerDo('drop function refuse_message() cascade');
    const late = ['TIMEOUT', 'The event is not rated yet: send the same request again.'];
    expect(await commit(504)).to.deep.equal(late);
    expect(await commit(504)).to.deep.equal(late);
  });
});

describe('flows of what there is not', () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);

  for (const [workflow, { slug, entity }] of flowList) {
    // What a new record and a copy are made of are references: those that lead nowhere are 400.
    if (/create|clone/.test(slug)) continue;
    // spec/flows.md R8
    it(`${slug} answers 404, and is recorded as failed`, async () => {
      const ids = strangers();
      const { body } = await tenant
        .post(`${external}/run/${slug}`, starts[workflow](ids))
        .expect(404);
      const { flowExecutionId, ...fault } = body;
      const message = `There is no ${entity} '${ids[entity]}'.`;
      const path = `uri=${external}/run/${slug}`;
      expect(fault).to.deep.equal({ status: 404, error: 'Not Found', message, path });
      const { body: execution } = await tenant
        .get(`/v1/workflows/${publicNameOf(workflow)}/executions/${flowExecutionId as string}`)
        .expect(200);
      const error = { code: 'NOT_FOUND', status: 404, message, details: {} };
      expect(execution).to.deep.include({ status: 'failed', error });
    });
  }

  for (const [workflow, { slug }] of flowList) {
    // spec/flows.md R33
    it(`a batch of ${slug} under the key of another is 409`, async () => {
      const start = starts[workflow](strangers());
      const send = (data: object[]) =>
        tenant.post(`${external}/run/${slug}/batch`, { data }).set('Idempotency-Key', slug);
      await send([{}]).expect(200);
      const { body } = await send([start]).expect(409);
      expect(body).to.deep.equal({
        status: 409,
        error: 'Conflict',
        message: 'This Idempotency-Key was used for another request.',
        path: `uri=${external}/run/${slug}/batch`,
      });
    });
  }
});
