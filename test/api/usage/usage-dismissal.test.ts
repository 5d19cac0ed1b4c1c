import { expect } from 'chai';
import { runFlow } from '../../../src/flows/run-flow.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import type { TestTenant } from '../../support/servers/instance.js';
import { openReceiver } from '../../support/servers/receiver.js';
import { useInstance } from '../../support/servers/use-instance.js';

const path = '/v1/usage-events/dismiss';
const reason = 'Sent by a test.';

describe('rejected events that are dismissed by filter', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  let tenant: TestTenant;
  let serviceId: string;
  beforeEach(async () => {
    tenant = await instance.tenant();
    serviceId = await createService(tenant, 'Calls');
    await createAccount(tenant, 'acme');
  });

  const sent = async (accounts: readonly string[]) => {
    const messages = accounts.map((account) => ({ message: usage(account, serviceId) }));
    await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
    await waitUntilRated(tenant, messages.length);
  };
  const dismiss = async (body: object) =>
    (await tenant.post(path, { reason, ...body }).expect(200)).body;
  const counts = async () => (await tenant.get('/v1/usage-events/summary').expect(200)).body;
  const dismissSome = async (max: number) =>
    (
      await runFlow(tenant.scope, instance.platform, {
        workflow: 'dismissUsageEvents',
        input: { filter: {}, reason, max },
        businessKey: () => 'usage-dismissal',
        entityType: 'usage',
        entityId: 'rejected',
        idempotencyKey: null,
        summary: 'dismiss rejected usage',
      })
    ).output;
  /** Events of each page: it becomes known at an instant, which holds up other corrections until its end. */
  const pages = async (): Promise<number[]> => {
    const { rows } = await tenant.scope.db.read.raw<{ rows: { events: number }[] }>(
      `select count(*)::integer as events from usage_event_change where tenant_id = ?
       group by changed_at order by changed_at`,
      [tenant.id],
    );
    return rows.map(({ events }) => events);
  };
  const wrong = { dimensions: { api_calls: 'a lot' } };

  // spec/beyond.md R490
  it('are counted before, and canceled with the reason then', async () => {
    await send(tenant, usage('acme', serviceId, wrong));
    await sent(['acme', 'nobody', 'nobody', 'other']);
    const filter = { code: 'ACCOUNT_NOT_FOUND' };
    const { until, ...tried } = await dismiss({ ...filter, dryRun: true });
    expect(Date.now() - Date.parse(until)).to.be.within(0, 60_000);
    expect(tried).to.deep.equal({
      dismissed: 3,
      isComplete: true,
      reasons: [{ code: 'ACCOUNT_NOT_FOUND', events: 3 }],
      dryRun: true,
    });
    expect(await counts()).to.include({ rated: 1, rejected: 4, canceled: 0 });
    const { executionId, ...done } = await dismiss(filter);
    expect(done).to.deep.equal({ dismissed: 3, isComplete: true });
    expect(await counts()).to.include({ accepted: 5, rated: 1, rejected: 1, canceled: 3 });
    const { body } = await tenant.get('/v1/usage-events?status=canceled').expect(200);
    expect(body.data).to.have.length(3);
    for (const event of body.data) expect(event).to.include({ code: null, reason });
    const page = await tenant
      .get(`/v1/workflows/dismiss-usage-events/executions/${executionId}`)
      .expect(200);
    expect(page.body).to.deep.include({
      status: 'completed',
      output: { dismissed: 3, isComplete: true },
    });
    const entries = await tenant.get('/v1/audit?entity=usageEventChange').expect(200);
    expect(entries.body.data).to.have.length(3);
    const { body: again } = await tenant.post('/v1/usage-events/retry', filter).expect(200);
    expect(again).to.include({ retried: 0, rated: 0, rejected: 0 });
    expect(await dismiss(filter)).to.include({ dismissed: 0, isComplete: true });
    await tenant.post(`/v1/usage-events/${body.data[0].id}/cancel`, { reason }).expect(409);
  });

  it('are as many as are asked for at most, the newest of them, page by page', async () => {
    await sent(Array.from({ length: 600 }, () => 'nobody'));
    await sent(Array.from({ length: 600 }, () => 'other'));
    expect(await dismissSome(1_001)).to.deep.equal({ dismissed: 1_001, isComplete: false });
    expect(await pages()).to.deep.equal([500, 500, 1]);
    const { body } = await tenant.get('/v1/usage-events?status=rejected&limit=1000').expect(200);
    expect(body.data).to.have.length(199);
    for (const event of body.data) expect(event.billingAccountRef).to.equal('nobody');
    expect(await dismiss({})).to.include({ dismissed: 199, isComplete: true });
    expect(await counts()).to.include({ accepted: 1_200, rejected: 0, canceled: 1_200 });
  });

  // spec/beyond.md R490
  it('are those that the dry run has counted, where its instant is sent back', async () => {
    await sent(['nobody', 'nobody']);
    const { until, dismissed } = await dismiss({ dryRun: true });
    expect(dismissed).to.equal(2);
    await sent(['nobody']);
    expect(await dismiss({ dryRun: true })).to.include({ dismissed: 3 });
    expect(await dismiss({ dryRun: true, until })).to.include({ dismissed: 2, until });
    expect(await dismiss({ until })).to.include({ dismissed: 2, isComplete: true });
    expect(await counts()).to.include({ accepted: 3, rejected: 1, canceled: 2 });
    expect(await dismiss({ until: '1066-10-14' })).to.include({ dismissed: 0 });
  });

  it('are none with an instant that is still to come, which is named', async () => {
    const until = new Date(Date.now() + 60_000).toISOString();
    for (const dryRun of [true, false]) {
      const { body } = await tenant.post(path, { reason, until, dryRun }).expect(400);
      expect(body.error.message).to.equal(`'until' must not be in the future: '${until}'`);
      expect(body.error.details).to.include({ field: 'until', value: until });
    }
  });

  it('are told to webhooks as one that is canceled is', async () => {
    const receiver = await openReceiver();
    try {
      await tenant
        .post('/v1/webhooks', {
          url: receiver.url,
          events: ['usage.canceled'],
          secret: 'a-secret-of-24-characters',
        })
        .expect(201);
      await sent(['nobody', 'nobody']);
      await dismiss({});
      const received = await receiver.until((arrived) => arrived.length === 2);
      for (const { payload } of received) {
        expect(payload.data).to.include({
          status: 'canceled',
          correctionId: null,
          correctionReason: reason,
        });
      }
    } finally {
      await receiver.close();
    }
  });

  // docs/decisions/0482
  it('are told of page by page of what may be read at once', async () => {
    await tenant
      .post('/v1/webhooks', {
        url: 'https://receiver.example/usage',
        events: ['usage.canceled'],
        secret: 'a-secret-of-24-characters',
      })
      .expect(201);
    const dimensions = { api_calls: '1', filler: 'u'.repeat(900_000) };
    const long = Array.from({ length: 20 }, () => usage('nobody', serviceId, { dimensions }));
    await send(tenant, ...long);
    await waitUntilRated(tenant, long.length);
    expect(await dismissSome(15)).to.deep.equal({ dismissed: 15, isComplete: false });
    // 8 MiB hold nine of them, and the tenth is the last.
    expect(await pages()).to.deep.equal([10, 5]);
    expect(await dismiss({})).to.include({ dismissed: 5, isComplete: true });
  });

  it('are those of the first request where it is repeated under its key', async () => {
    await sent(['nobody']);
    const ask = (body: object) =>
      tenant.post(path, { reason, ...body }).set('idempotency-key', 'once');
    const first = await ask({}).expect(200);
    expect(first.body.dismissed).to.equal(1);
    expect((await ask({}).expect(200)).body).to.deep.equal(first.body);
    await ask({ code: 'NO_RATE_CARD' }).expect(409);
  });

  for (const body of [{}, { reason: '' }, { reason, status: 'rejected' }, { reason, code: 'X' }]) {
    it(`are none with ${JSON.stringify(body)}`, async () => {
      const answer = await tenant.post(path, body).expect(400);
      expect(answer.body.error.code).to.equal('VALIDATION_ERROR');
    });
  }
});
