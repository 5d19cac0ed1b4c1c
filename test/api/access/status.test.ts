import { expect } from 'chai';
import type { Static } from 'typebox';
import { definitionWorkflow } from '../../../src/messages/definitions/definition-run.js';
import type { TenantStatus } from '../../../src/schemas/access/status.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { until } from '../../start/workbench.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { openReceiver, waitUntilDelivered } from '../../support/servers/receiver.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const read = async (tenant: TestTenant) =>
  (await tenant.get('/v1/status').expect(200)).body as Static<typeof TenantStatus>;

const missing = { id: '01939c6e-7a00-7000-8000-00000000dead', name: 'x' };

/** What a tenant has that has done nothing. */
const nothing = {
  usage: {
    rejected: 0,
    pending: 0,
    pendingSince: null,
    totalsPendingSince: null,
    minutes: [],
    minutesSince: null,
  },
  audit: null,
  webhooks: { pending: 0, failed: 0, failing: 0, failingSince: null },
  executions: { running: 0, runningSince: null, failed: 0, failures: [] },
};

describe('the status of a tenant, without workers', () => {
  const instance = useInstance();
  const tenant = useTenant(instance, { forEachTest: true });
  const sql = (text: string, values: unknown[]) =>
    asOwner(instance.databaseUrl, (client) => client.query(text, values));

  // spec/beyond.md R437
  it('says how many of its events wait, and since when', async () => {
    const before = Date.now();
    await send(tenant, usage('a', 'x'));
    const between = Date.now();
    // Of other accounts: in other partitions.
    for (let index = 0; index < 5; index += 1) await send(tenant, usage(`b${index}`, 'x'));
    const { usage: waiting, parts } = await read(tenant);
    expect(waiting.pending).to.equal(6);
    expect(Date.parse(waiting.pendingSince ?? '')).to.be.within(before, between);
    expect(parts).to.deep.equal({ database: true, broker: true, temporal: true, worker: null });
    const other = await read(await instance.tenant());
    expect(other).to.deep.include(nothing);
    expect(Date.parse(other.at)).to.be.within(between, Date.now());
  });

  // spec/beyond.md R437
  it('says it to whoever may read, and which part does not answer', async () => {
    await send(tenant, usage('a', 'x'));
    const reader = await instance.tenant(['READER'], tenant.id);
    expect((await read(reader)).usage.pending).to.equal(1);
    const { broker } = instance.platform;
    const ping = broker.ping.bind(broker);
    broker.ping = () => Promise.reject(new Error('It is away.'));
    try {
      // What is known of the parts is good for a second.
      const isAway = async () => !(await read(reader)).parts.broker;
      await until(isAway, 20_000, 'the news that the broker is away');
      const { parts, usage: waiting } = await read(reader);
      expect(parts).to.include({ database: true, broker: false, temporal: true });
      expect(waiting).to.include({ pending: null, pendingSince: null });
    } finally {
      broker.ping = ping;
    }
  });

  // spec/beyond.md R437
  it('says all else where the log has gone since it was asked', async () => {
    await send(tenant, usage('a', 'x'));
    // What is known of the parts is good for a second, also from before.
    const isThere = async () => (await read(tenant)).parts.broker;
    await until(isThere, 20_000, 'the news that the broker is there');
    const { broker } = instance.platform;
    const ends = broker.ends.bind(broker);
    broker.ends = () => Promise.reject(new Error('It went.'));
    try {
      const { parts, usage: waiting, executions } = await read(tenant);
      expect(parts).to.include({ database: true, broker: false, temporal: true });
      expect(waiting).to.include({ pending: null, pendingSince: null });
      expect(executions).to.deep.equal(nothing.executions);
    } finally {
      broker.ends = ends;
    }
    expect((await read(tenant)).usage.pending).to.equal(1);
  });

  // spec/beyond.md R437
  it('counts whole minutes of the newest where too much was rated in the hour', async () => {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const insert = (minutesAgo: number, count: number, output: object) =>
      sql(
        `insert into execution
           (tenant_id, id, run_id, workflow, workflow_id, status, output, started_at, completed_at)
         select $1::text, gen_random_uuid(), gen_random_uuid(), 'rateUsage', 'w-' || number, 'completed',
           $4::jsonb, $2::timestamptz, $2::timestamptz
         from generate_series(1, $3::int) as number`,
        [tenant.id, new Date(minute - minutesAgo * 60_000), count, output],
      );
    await insert(90, 1, { rated: 7, rejected: 7, duplicate: 7 });
    await insert(20, 2, { rated: 3, rejected: 1, duplicate: 0 });
    await insert(2, 1, { rated: 4_000, rejected: 0, duplicate: 5 });
    const shown = (minutesAgo: number, rated: number, rejected: number, duplicate: number) => ({
      minute: new Date(minute - minutesAgo * 60_000).toISOString(),
      rated,
      rejected,
      duplicate,
    });
    expect((await read(tenant)).usage).to.deep.include({
      minutes: [shown(20, 6, 2, 0), shown(2, 4_000, 0, 5)],
      minutesSince: null,
    });
    // 50,000 are looked at: one of the minute in which there were two is left out, and so is the other.
    await insert(1, 49_998, { rated: 1, rejected: 0, duplicate: 0 });
    expect((await read(tenant)).usage).to.deep.include({
      minutes: [shown(2, 4_000, 0, 5), shown(1, 49_998, 0, 0)],
      minutesSince: new Date(minute - 19 * 60_000).toISOString(),
    });
  });

  // spec/beyond.md R437
  it('shows the audit that ended last, also if it had not begun to compare', async () => {
    const insert = (began: string, ended: string, input: object, status: string) =>
      sql(
        `insert into execution
           (tenant_id, id, run_id, workflow, workflow_id, status, input, started_at, completed_at)
         values ($1, gen_random_uuid(), gen_random_uuid(), 'auditUsage', 'a-' || $2, $5,
           $4::jsonb, $2::timestamptz, $3::timestamptz)`,
        [tenant.id, `2026-05-01T${began}Z`, `2026-05-01T${ended}Z`, input, status],
      );
    await insert('10:00:00', '10:30:00', {}, 'terminated');
    // It began later and was over before.
    await insert('10:05:00', '10:06:00', { periodStart: '2026-04-01' }, 'failed');
    expect((await read(tenant)).audit).to.deep.include({
      status: 'terminated',
      completedAt: '2026-05-01T10:30:00.000Z',
      periodStart: null,
      periodEnd: null,
      events: null,
      samplePercent: null,
      differences: null,
    });
  });

  // spec/beyond.md R437
  it('waits for no cell but that of the tenant', async () => {
    let asked = 0;
    const cells = instance.platform.database.cells as unknown as object[];
    cells.push({
      name: 'elsewhere',
      ping: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    try {
      const isAskedAgain = async () => (await read(tenant)).parts.database;
      // What is known is good for a second: it is asked again.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect(await isAskedAgain()).to.equal(true);
    } finally {
      cells.pop();
    }
    expect(asked).to.equal(0);
  });

  // spec/beyond.md R438
  it('counts 10,000 of what runs and what failed', async () => {
    await sql(
      `insert into execution
         (tenant_id, id, run_id, workflow, workflow_id, status, started_at, completed_at)
       select $1::text, gen_random_uuid(), gen_random_uuid(), 'editAccount', 'w-' || number,
         case number % 2 when 0 then 'running' else 'timed_out' end, now() - interval '1 hour',
         case number % 2 when 0 then null else now() end
       from generate_series(1, 20002) as number`,
      [tenant.id],
    );
    const { running, failed, failures } = (await read(tenant)).executions;
    expect({ running, failed }).to.deep.equal({ running: 10_000, failed: 10_000 });
    expect(failures).to.have.length(10);
    expect(failures[0]).to.include({ workflowName: 'account-edit', status: 'timed_out' });
  });

  // spec/beyond.md R578
  it('counts no preview that was refused: nothing is to be mended', async () => {
    const insert = (workflow: string, input: object, kind: string) =>
      sql(
        `insert into execution
           (tenant_id, id, run_id, workflow, workflow_id, status, input, error, started_at, completed_at)
         values ($1, gen_random_uuid(), gen_random_uuid(), $2, gen_random_uuid(), 'failed', $3, $4,
           now(), now())`,
        [tenant.id, workflow, input, { kind, message: `${kind} of ${workflow}` }],
      );
    await insert('amendUsageEvent', { dryRun: true }, 'validation');
    await insert('runBilling', { dryRun: true }, 'conflict');
    await insert('amendUsageEvent', { dryRun: true }, 'internal');
    await insert('cancelUsageEvent', {}, 'validation');
    await insert(definitionWorkflow(missing.id), { dryRun: true }, 'validation');
    const { failed, failures } = (await read(tenant)).executions;
    expect(failures.map(({ message }) => message)).to.have.members([
      'internal of amendUsageEvent',
      'validation of cancelUsageEvent',
      `validation of ${definitionWorkflow(missing.id)}`,
    ]);
    expect(failed).to.equal(3);
  });
});

describe('the status of a tenant', function () {
  this.timeout(120_000);
  const instance = useInstance({
    withWorkers: true,
    // One attempt: what fails has failed.
    webhooks: { delaysMs: [0], timeoutMs: 1_000 },
  });
  const tenant = useTenant(instance, { forEachTest: true });

  // spec/beyond.md R437
  it('says what was rated, and what the last audit of usage found', async () => {
    await createAccount(tenant, 'a');
    const service = await createService(tenant, 'One');
    const event = usage('a', service);
    await send(tenant, event, event, usage('nobody', service), usage('a', service));
    await waitUntilRated(tenant, 4);
    const { usage: done, parts } = await read(tenant);
    expect(parts.worker).to.equal(true);
    const sum = { rated: 0, rejected: 0, duplicate: 0 };
    for (const each of done.minutes) {
      sum.rated += each.rated;
      sum.rejected += each.rejected;
      sum.duplicate += each.duplicate;
    }
    expect(sum).to.deep.equal({ rated: 2, rejected: 1, duplicate: 1 });
    expect(done).to.include({ rejected: 1, pending: 0, pendingSince: null, minutesSince: null });

    const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const audit = async (sample = {}) => {
      const { body } = await tenant
        .post('/v1/workflows/audit-usage/execute', { data: { ...period, ...sample } })
        .expect(200);
      return body.executionId as string;
    };
    const found = { status: 'completed', events: 2, samplePercent: 100, unchecked: 0, ...period };
    const first = await audit();
    expect((await read(tenant)).audit).to.include({ ...found, executionId: first, differences: 0 });
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `update rated_transaction set amount = amount + 1
         where tenant_id = $1 and external_tran_id = $2`,
        [tenant.id, event.externalTransactionId],
      ),
    );
    const last = await audit();
    // The charge, its only row, and the totals of its day in three grains.
    expect((await read(tenant)).audit).to.include({ ...found, executionId: last, differences: 5 });
    const sampled = await audit({ samplePercent: 10 });
    const { body: execution } = await tenant
      .get(`/v1/workflows/audit-usage/executions/${sampled}`)
      .expect(200);
    // By its id the changed event is in one sample of ten, and not in the others.
    const differences = execution.output.differenceCount as number;
    expect(differences).to.be.oneOf([3, 5]);
    expect((await read(tenant)).audit).to.include({ samplePercent: 10, differences });
    expect((await read(await instance.tenant())).audit).to.equal(null);
  });

  // spec/beyond.md R438
  it('says what webhooks were not told, and what executions failed', async () => {
    const receiver = await openReceiver();
    try {
      receiver.answer = (_request, response) => void response.writeHead(500).end('Closed.');
      const given = { url: receiver.url, events: ['invoice.posted'], secret: 'a secret of ours' };
      const { body: webhook } = await tenant.post('/v1/webhooks', given).expect(201);
      await tenant.post(`/v1/webhooks/${webhook.id}/test`).expect(200);
      await waitUntilDelivered(tenant, webhook.id);
    } finally {
      await receiver.close();
    }
    await tenant.post(`${external}/run/billing/account/edit`, missing).expect(404);
    const document = { dsl: '1.0.0', namespace: 'test', name: 'refusing', version: '1.0.0' };
    const error = { type: 'urn:x', status: 409, detail: 'Not today.' };
    const definition = { document, do: [{ stop: { raise: { error } } }] };
    const { body: defined } = await tenant.post('/v1/workflows', { definition }).expect(201);
    await tenant.post('/v1/workflows/refusing/execute', { data: {} }).expect(200);

    const { webhooks, executions } = await read(tenant);
    expect(webhooks).to.include({ pending: 0, failed: 1, failing: 1 });
    expect(Date.parse(webhooks.failingSince ?? '')).to.be.at.most(Date.now());
    expect(executions).to.include({ running: 0, runningSince: null, failed: 2 });
    const [own, builtIn] = executions.failures;
    expect(own).to.include({ workflowId: defined.id, workflowName: 'refusing', status: 'failed' });
    expect(own?.message).to.include('Not today.');
    expect(builtIn).to.include({ workflowName: 'account-edit', status: 'failed' });
    // They lead to where each is told of.
    for (const { workflowId, executionId } of executions.failures) {
      await tenant.get(`/v1/workflows/${workflowId}/executions/${executionId}`).expect(200);
    }
    const { webhooks: ofOther, executions: none } = await read(await instance.tenant());
    expect({ webhooks: ofOther, executions: none }).to.deep.equal({
      webhooks: nothing.webhooks,
      executions: nothing.executions,
    });
  });
});
