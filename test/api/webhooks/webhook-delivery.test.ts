import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { createRecord } from '../../../src/commands/records/record.js';
import { within } from '../../../src/kernel/scope.js';
import { external } from '../../support/servers/instance.js';
import {
  ok,
  openReceiver,
  verify,
  waitUntilDelivered,
  type Received,
  type Receiver,
} from '../../support/servers/receiver.js';
import { asOwner } from '../../support/servers/rows.js';
import { createAccount, createService, rate, usage } from '../../support/billing/usage.js';
import { without } from '../../support/http/without.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const records = ['mdata.created', 'mdata.updated', 'mdata.deleted'];

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attempts: {
    readonly round: number;
    readonly number: number;
    readonly statusCode: number | null;
    readonly error: string | null;
    readonly answer: string | null;
    readonly durationMs: number;
  }[];
}

// spec/platform.md R36, R38 to R41; spec/flows.md R30
describe('deliveries of webhooks', () => {
  const instance = useInstance({
    withWorkers: true,
    webhooks: { delaysMs: [0, 100, 200, 400], timeoutMs: 1_000 },
  });
  const tenant = useTenant(instance, { forEachTest: true });
  let receiver: Receiver;
  let things: string;
  beforeEach(async () => {
    receiver = await openReceiver();
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    things = `/v1/mobjects/${String(type.body.id)}/mdata`;
  });
  afterEach(() => receiver.close());

  const register = async (
    events: readonly string[],
    changes: object = {},
    owner = tenant,
  ): Promise<string> => {
    const body = { url: receiver.url, events, secret, ...changes };
    return (await owner.post('/v1/webhooks', body).expect(201)).body.id as string;
  };
  const create = async (data: object = { price: 1.5 }): Promise<Record<string, unknown>> =>
    (await tenant.post(things, { data }).expect(201)).body as Record<string, unknown>;
  const deliveries = async (webhookId: string): Promise<Delivery[]> =>
    (await tenant.get(`/v1/webhooks/${webhookId}/deliveries`).expect(200)).body.data as Delivery[];
  const kinds = (received: readonly Received[]) => received.map(({ payload }) => payload.event);

  it('have a queue of their own: however many there are, no flow waits behind them', async () => {
    const webhookId = await register(records);
    await create();
    await waitUntilDelivered(tenant, webhookId);
    const [delivery] = await deliveries(webhookId);
    const { temporal } = instance.platform;
    const id = `${tenant.id}/webhook/${delivery?.id ?? ''}/${delivery?.attempts[0]?.round ?? ''}`;
    const { taskQueue } = await temporal.waiter.workflow.getHandle(id).describe();
    expect(taskQueue).to.equal(`${temporal.taskQueue}-webhooks`);
  });

  it('rest while their tenant is suspended, also those that are tried again, and go on', async () => {
    const suspension = 'update tenant set suspended_at = case when $2 then now() end where id = $1';
    const suspend = (isSuspended: boolean) =>
      asOwner(instance.databaseUrl, (client) => client.query(suspension, [tenant.id, isSuspended]));
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    const webhookId = await register(records);
    await create({ n: 1 });
    await receiver.until((all) => all.length >= 1);
    await suspend(true);
    // What the tenant's flows do meanwhile, such as one that had begun, tells of a change, too.
    await tenant.scope.db.transaction((trx) =>
      createRecord(within(tenant.scope, trx), 'thing', { data: { n: 2 } }),
    );
    receiver.answer = ok;
    // An attempt that was under way may still arrive. Retries come after 100, 200 and 400 ms.
    await wait(500);
    const before = receiver.received.length;
    await wait(1_500);
    expect(receiver.received).to.have.length(before);
    await suspend(false);
    await waitUntilDelivered(tenant, webhookId);
    const statuses = (await deliveries(webhookId)).map(({ status }) => status);
    expect(statuses).to.deep.equal(['delivered', 'delivered']);
  }).timeout(120_000);

  it('tell of a record as the API shows it, in the order of its changes', async () => {
    const webhookId = await register(records);
    const created = await create({ price: 0.1, exact: 1 });
    const path = `${things}/${String(created['id'])}`;
    const { body: updated } = await tenant.put(path, { data: { price: 0.2 } }).expect(200);
    await tenant.delete(path).expect(200);
    const received = await receiver.until((all) => all.length === 3);
    expect(kinds(received)).to.deep.equal(records);
    const contents = received.map((each) => verify(secret, each) as { data: unknown });
    expect(contents.map(({ data }) => data)).to.deep.equal([created, updated, updated]);
    for (const { payload } of received) {
      expect(Object.keys(payload)).to.deep.equal(['event', 'timestamp', 'data']);
      expect(new Date(payload.timestamp).toISOString()).to.equal(payload.timestamp);
    }
    await waitUntilDelivered(tenant, webhookId);
    expect((await deliveries(webhookId)).map(({ status }) => status)).to.deep.equal(
      Array(3).fill('delivered'),
    );
  });

  it('tell of each record of a bulk request, and of each that goes with its type', async () => {
    await register(records);
    const data = [{ n: 1 }, { n: 2 }, { n: 3 }];
    await tenant.post(`${things}/bulk`, { data }).expect(200);
    await receiver.until((all) => all.length === 3);
    await tenant.delete(`${things.replace('/mdata', '')}?force=true`).expect(200);
    const received = await receiver.until((all) => all.length === 6);
    const numbers = (event: string) =>
      received
        .filter(({ payload }) => payload.event === event)
        .map(({ payload }) => (payload.data as { data: { n: number } }).data.n)
        .sort();
    expect(numbers('mdata.created')).to.deep.equal([1, 2, 3]);
    expect(numbers('mdata.deleted')).to.deep.equal([1, 2, 3]);
    const [created, deleted] = ['mdata.created', 'mdata.deleted'].map((event) =>
      received
        .filter(({ payload }) => payload.event === event)
        .map(({ payload }) => payload.data as { id: string })
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(deleted).to.deep.equal(created);
  });

  it('tell of payments and of how workflows end, whichever API is called', async () => {
    await register(['payment.saved', 'workflow.completed']);
    const accountId = await createAccount(tenant, 'acme');
    const payment = await tenant
      .post(`${external}/payments`, {
        accountId,
        amount: 10.5,
        currency: 'USD',
        paymentType: 'Pay In',
        paymentDate: '2026-01-01',
        paymentMethod: 'Cash',
        paymentReference: 'P-1',
      })
      .expect(201);
    await tenant.put(`${external}/payments/${String(payment.body.id)}`, { amount: 11 }).expect(200);
    const missing = { id: '01939c6e-7a00-7000-8000-00000000dead', name: 'x' };
    await tenant.post(`${external}/run/billing/account/edit`, missing).expect(404);
    const received = await receiver.until((all) => all.length === 5);
    for (const each of received) verify(secret, each);
    const of = (event: string) =>
      received
        .filter(({ payload }) => payload.event === event)
        .map(({ payload }) => payload.data as Record<string, unknown>);
    expect(of('payment.saved')).to.deep.equal([
      payment.body,
      { ...payment.body, amount: 11, balance: 11 },
    ]);
    const flows = await tenant.get('/v1/workflows').expect(200);
    const idOf = (name: string) =>
      (flows.body.data as { id: string; name: string }[]).find((each) => each.name === name)?.id;
    const ends = of('workflow.completed');
    expect(ends.map(({ workflowId, status }) => [workflowId, status])).to.have.deep.members([
      [idOf('payment-save'), 'completed'],
      [idOf('payment-edit'), 'completed'],
      [idOf('account-edit'), 'failed'],
    ]);
    for (const end of ends) {
      expect(Object.keys(end)).to.have.members(['workflowId', 'executionId', 'status', 'output']);
    }
    const saved = ends.find(({ workflowId }) => workflowId === idOf('payment-save'));
    expect(saved?.['output']).to.deep.equal(payment.body);
  });

  it('tell of usage that was rated or rejected', async () => {
    await register(['usage.rated', 'usage.rejected']);
    const serviceId = await createService(tenant, 'Calls');
    const rejected = await rate(tenant, usage('late', serviceId));
    await createAccount(tenant, 'late');
    await tenant.post(`/v1/usage-events/${String(rejected.id)}/retry`).expect(200);
    const received = await receiver.until((all) => all.length === 2);
    expect(kinds(received)).to.deep.equal(['usage.rejected', 'usage.rated']);
    const [first, last] = received.map(({ payload }) => payload.data as Record<string, unknown>);
    expect(first).to.include({ id: rejected.id, code: 'ACCOUNT_NOT_FOUND', status: 'rejected' });
    const { body: event } = await tenant.get(`/v1/usage-events/${String(rejected.id)}`).expect(200);
    const { ratedTransactions } = event as Record<string, unknown>;
    const { ratedTransactions: charges, ...told } = last ?? {};
    expect(told).to.deep.equal(without(event, 'message', 'ratedTransactions'));
    const [charge] = charges as object[];
    const [shown] = ratedTransactions as object[];
    // Why it was corrected is said by the event itself, as the explanation is.
    expect(charge).to.deep.equal(without(shown ?? {}, 'explanation', 'matches', 'correction'));
  });

  it('are sent again with the same webhook-id until the receiver takes them', async () => {
    const webhookId = await register(['mdata.created']);
    receiver.answer = (_request, response) => {
      if (receiver.received.length > 3) return ok(_request, response);
      response.writeHead(500, { 'content-type': 'text/plain' }).end('not now\0'.repeat(2_000));
    };
    await create();
    const received = await receiver.until((all) => all.length === 4);
    for (const each of received) verify(secret, each);
    expect(new Set(received.map(({ id }) => id)).size).to.equal(1);
    expect(new Set(received.map(({ body }) => body)).size).to.equal(1);
    await waitUntilDelivered(tenant, webhookId);
    const [delivery] = await deliveries(webhookId);
    expect(delivery).to.include({ id: received[0]?.id, status: 'delivered', reason: null });
    expect(
      delivery?.attempts.map(({ number, statusCode, error }) => [number, statusCode, error]),
    ).to.deep.equal([
      [1, 500, 'The answer was 500.'],
      [2, 500, 'The answer was 500.'],
      [3, 500, 'The answer was 500.'],
      [4, 204, null],
    ]);
    // The first 4 KiB, and no character that cannot be stored.
    expect(delivery?.attempts[0]?.answer)
      .to.have.length(4096)
      .and.match(/^not now\uFFFDnot now/);
  });

  it('survive a receiver that hangs, and one that drops the connection', async () => {
    const webhookId = await register(['mdata.created']);
    receiver.answer = (request, response) => {
      const attempt = receiver.received.length;
      if (attempt === 1) return;
      if (attempt === 2) response.destroy();
      else if (attempt === 3) response.writeHead(301, { location: receiver.url }).end();
      else ok(request, response);
    };
    await create();
    const received = await receiver.until((all) => all.length === 4);
    for (const each of received) verify(secret, each);
    expect(new Set(received.map(({ id }) => id)).size).to.equal(1);
    await waitUntilDelivered(tenant, webhookId);
    const [delivery] = await deliveries(webhookId);
    const errors = delivery?.attempts.map(({ error }) => error ?? '');
    expect(errors?.[0]).to.equal('There was no answer within 1 s.');
    expect(errors?.[1]).to.match(/^There was no answer: /);
    expect(errors?.[2]).to.equal('The answer was a redirect (301), which is not followed.');
    expect(errors?.[3]).to.equal('');
    expect(delivery?.attempts[0]?.durationMs).to.be.within(900, 3_000);
  });

  it('are given up after the last attempt, and can be sent once more', async () => {
    const webhookId = await register(['mdata.created']);
    receiver.answer = (_request, response) => void response.writeHead(503).end();
    await create();
    await receiver.until((all) => all.length === 4);
    await waitUntilDelivered(tenant, webhookId);
    const [given] = await deliveries(webhookId);
    expect(given).to.include({
      status: 'failed',
      reason: 'No attempt has succeeded. The last one: The answer was 503.',
    });
    const webhook = await tenant.get(`/v1/webhooks/${webhookId}`).expect(200);
    expect(webhook.body).to.include({ active: true, disabledReason: null });
    expect(webhook.body.failingSince).to.be.a('string');
    receiver.answer = ok;
    const path = `/v1/webhooks/${webhookId}/deliveries/${String(given?.id)}/redeliver`;
    const again = await tenant.post(path).expect(200);
    expect(again.body).to.include({ id: given?.id, status: 'pending', reason: null });
    const received = await receiver.until((all) => all.length === 5);
    expect(new Set(received.map(({ id }) => id)).size).to.equal(1);
    await waitUntilDelivered(tenant, webhookId);
    const [done] = await deliveries(webhookId);
    expect(done?.attempts.map(({ round, number }) => [round, number])).to.deep.equal([
      ...[1, 2, 3, 4].map((number) => [1, number]),
      [2, 1],
    ]);
    const well = await tenant.get(`/v1/webhooks/${webhookId}`).expect(200);
    expect(well.body.failingSince).to.equal(null);
  });

  it('of one record wait for the one before, those of others do not', async () => {
    await register(records);
    const blocked = await create({ name: 'blocked' });
    await receiver.until((all) => all.length === 1);
    let isUp = false;
    receiver.answer = (request, response) => {
      const { data } = request.payload.data as { data: { name: string } };
      if (!isUp && data.name === 'blocked') response.writeHead(500).end();
      else ok(request, response);
    };
    const path = `${things}/${String(blocked['id'])}`;
    await tenant.put(path, { data: { step: 1 } }).expect(200);
    await receiver.until((all) => all.length >= 2);
    await tenant.put(path, { data: { step: 2 } }).expect(200);
    await create({ name: 'free' });
    const received = await receiver.until((all) =>
      all.some(({ payload }) => (payload.data as { data: { name: string } }).data.name === 'free'),
    );
    const steps = () =>
      received.flatMap(({ payload }) => {
        const { step } = (payload.data as { data: { step?: number } }).data;
        return step === undefined ? [] : [step];
      });
    expect(new Set(steps())).to.deep.equal(new Set([1]));
    isUp = true;
    await receiver.until(() => steps().includes(2));
    // Whatever was repeated, no first step came after the second.
    expect(steps()).to.deep.equal(steps().sort((a, b) => a - b));
  });

  it('end with a webhook that answers 410: it is switched off, with the reason', async () => {
    const webhookId = await register(records);
    receiver.answer = (_request, response) => void response.writeHead(410).end();
    await create();
    await waitUntilDelivered(tenant, webhookId);
    const { body } = await tenant.get(`/v1/webhooks/${webhookId}`).expect(200);
    expect(body).to.include({
      active: false,
      disabledReason: 'The receiver answered 410 Gone: it wants no more events.',
    });
    expect(body.disabledAt).to.be.a('string');
    await create();
    expect(await deliveries(webhookId)).to.have.length(1);
    expect(receiver.received).to.have.length(1);
    await tenant.post(`/v1/webhooks/${webhookId}/test`).expect(409);
    receiver.answer = ok;
    await tenant.put(`/v1/webhooks/${webhookId}`, { active: true }).expect(200);
    const recovered = await tenant
      .post(`/v1/webhooks/${webhookId}/recover`, { since: '2026-01-01T00:00:00Z' })
      .expect(200);
    expect(recovered.body).to.deep.equal({ deliveries: 1 });
    const received = await receiver.until((all) => all.length === 2);
    expect(received[1]?.id).to.equal(received[0]?.id);
  });

  it('are signed by both secrets for a while, when one takes over from the other', async () => {
    const webhookId = await register(['mdata.created'], { secret: 'just some text' });
    const rotation = await tenant
      .post(`/v1/webhooks/${webhookId}/rotate-secret`, { overlapSeconds: 3600 })
      .expect(200);
    const next = rotation.body.secret as string;
    expect(next).to.match(/^whsec_/);
    await create();
    const [first] = await receiver.until((all) => all.length === 1);
    if (!first) throw new Error('Nothing arrived.');
    expect(first.signature.split(' ')).to.have.length(2);
    verify('just some text', first);
    verify(next, first);
    await tenant
      .post(`/v1/webhooks/${webhookId}/rotate-secret`, { secret, overlapSeconds: 0 })
      .expect(200);
    await create();
    const [, second] = await receiver.until((all) => all.length === 2);
    if (!second) throw new Error('Nothing arrived.');
    verify(secret, second);
    expect(() => verify(next, second)).to.throw('No matching signature found');
  });

  it('come of no transaction that is rolled back', async () => {
    const webhookId = await register(records);
    const failing = tenant.scope.db.transaction(async (trx) => {
      await createRecord(within(tenant.scope, trx), 'thing', { data: { name: 'never' } });
      const { rows } = await trx.raw<{ rows: { count: number }[] }>(
        'select count(*)::int as count from webhook_delivery where webhook_id = ?',
        [webhookId],
      );
      expect(rows[0]?.count).to.equal(1);
      throw new Error('rolled back');
    });
    expect(
      await failing.then(
        () => '',
        (error: Error) => error.message,
      ),
    ).to.equal('rolled back');
    await create({ name: 'later' });
    await receiver.until((all) => all.length > 0);
    await waitUntilDelivered(tenant, webhookId);
    expect(receiver.received.map(({ payload }) => payload.data)).to.have.length(1);
    expect(await deliveries(webhookId)).to.have.length(1);
  });
});
