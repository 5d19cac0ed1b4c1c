import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import {
  claimDefinedStarts,
  reclaimDefinedStarts,
  startScheduled,
} from '../../src/activities/workflows/definition-starts.js';
import { makeRecordType } from '../support/billing/records.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import type { TestTenant } from '../support/servers/instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (name: string, type: string, data?: string, tasks?: object[]) => ({
  document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
  schedule: { on: { one: { with: { type, ...(data === undefined ? {} : { data }) } } } },
  do: tasks ?? [{ keep: { set: { of: '${ input }' } } }],
});

const define = async (tenant: TestTenant, definition: object): Promise<string> =>
  (await tenant.post('/v1/workflows', { definition }).expect(201)).body.id;

const executionsOf = async (tenant: TestTenant, id: string): Promise<Body[]> =>
  (await tenant.get(`/v1/workflows/${id}/executions?limit=100`).expect(200)).body.data;

/** The executions of a workflow once there are so many, all of them ended. */
async function ended(tenant: TestTenant, id: string, count: number): Promise<Body[]> {
  for (const until = Date.now() + 15_000; ; await wait(50)) {
    const all = await executionsOf(tenant, id);
    const isDone = all.length >= count && all.every(({ status }) => status !== 'running');
    if (isDone || Date.now() > until) {
      expect(all).to.have.length(count);
      return all;
    }
  }
}

// spec/beyond.md R337, R338
describe("tenants' workflows: what starts them", () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance, { forEachTest: true });

  it('an event for which their condition holds starts them once, with what it says', async () => {
    const { path } = await makeRecordType(tenant);
    const id = await define(tenant, definitionOf('big', 'mdata.created', '${ data.data.n > 5 }'));
    const all = await define(tenant, definitionOf('all', 'mdata.created'));
    const odd = await define(
      tenant,
      definitionOf('odd', 'mdata.created', '${ data.data.none == 1 }'),
    );
    for (const n of [3, 7]) await tenant.post(path, { data: { n } }).expect(201);
    expect(await ended(tenant, all, 2)).to.have.length(2);
    const [execution] = await ended(tenant, id, 1);
    expect(execution).to.include({ status: 'completed', actor: 'workflow-trigger' });
    expect(execution.input.data).to.deep.equal({ n: 7 });
    expect(execution.output.of).to.deep.equal(execution.input);
    // A condition that fails does not hold.
    expect(await executionsOf(tenant, odd)).to.deep.equal([]);
  });

  it('the version that is live decides, and none when it is deleted', async () => {
    const { path } = await makeRecordType(tenant);
    const id = await define(tenant, definitionOf('live', 'mdata.deleted'));
    const put = definitionOf('live', 'mdata.created', undefined, [
      { a: { set: { second: true } } },
    ]);
    await tenant.put(`/v1/workflows/${id}`, { definition: put }).expect(200);
    await tenant.post(path, { data: {} }).expect(201);
    const [execution] = await ended(tenant, id, 1);
    expect(execution.output).to.deep.equal({ second: true });
    await tenant.delete(`/v1/workflows/${id}`).expect(204);
    const last = await define(tenant, definitionOf('last', 'mdata.created'));
    await tenant.post(path, { data: {} }).expect(201);
    await ended(tenant, last, 1);
    const { rows } = await tenant.scope.db.read.raw<{ rows: { count: number }[] }>(
      `select count(*)::integer as count from execution where tenant_id = ? and workflow like ?`,
      [tenant.id, `%${id}`],
    );
    expect(rows[0]?.count).to.equal(1);
  });

  it('what does not fit their schema fails, and is seen', async () => {
    const { path } = await makeRecordType(tenant);
    const document = { type: 'object', required: ['missing'] };
    const definition = definitionOf('strict', 'mdata.created');
    const id = await define(tenant, {
      ...definition,
      input: { schema: { format: 'json', document } },
    });
    await tenant.post(path, { data: {} }).expect(201);
    const [execution] = await ended(tenant, id, 1);
    expect(execution.error).to.include({ status: 400 });
    expect(execution.error.message).to.contain('missing');
  });

  // spec/beyond.md R409
  it('what is more than an input may be fails, and is seen', async () => {
    const { path } = await makeRecordType(tenant);
    const id = await define(tenant, definitionOf('large', 'mdata.created'));
    await tenant.post(path, { data: { text: 'x'.repeat(524_288) } }).expect(201);
    const [execution] = await ended(tenant, id, 1);
    expect(execution).to.deep.include({ status: 'failed', input: {} });
    expect(execution.error).to.include({ code: 'LIMIT_REACHED' });
    expect(execution.error.message).to.contain('524288 bytes');
  });

  it('what executions cause starts others five deep, and no deeper', async () => {
    const { path, id: mobjectId } = await makeRecordType(tenant);
    const again = {
      again: {
        call: 'durabill.operation',
        with: {
          operationId: 'createRecord',
          parameters: { mobjectId },
          body: { data: { n: '${ input.data.n + 1 }' } },
        },
      },
    };
    const loop = await define(
      tenant,
      definitionOf('loop', 'mdata.created', '${ data.data.n > 0 }', [again]),
    );
    // Its own end starts it, too.
    const echo = await define(tenant, definitionOf('echo', 'workflow.completed'));
    await tenant.post(path, { data: { n: 1 } }).expect(201);
    const executions = await ended(tenant, loop, 5);
    expect(executions.map(({ input }: Body) => input.data.n).sort()).to.deep.equal([1, 2, 3, 4, 5]);
    // Of depth 1 to 5 each end of `loop` starts one: it and those that follow make 4 + 3 + 2 + 1.
    expect(await ended(tenant, echo, 10)).to.have.length(10);
    await wait(1_500);
    expect(await executionsOf(tenant, loop)).to.have.length(5);
    expect(await executionsOf(tenant, echo)).to.have.length(10);
  });

  it('at most 20 are started by one kind of event', async () => {
    for (let count = 0; count < 20; count += 1) {
      await define(tenant, definitionOf(`n${count}`, 'invoice.paid'));
    }
    const definition = definitionOf('one-more', 'invoice.paid');
    await tenant.post('/v1/workflows', { definition }).expect(409);
    await tenant.delete('/v1/workflows/n7').expect(204);
    await tenant.post('/v1/workflows', { definition }).expect(201);
  });

  it('an alert starts the workflow that it names', async () => {
    const serviceId = await createService(tenant, 'Calls');
    await createAccount(tenant, 'acme');
    const definition = definitionOf('on-alert', 'x');
    const id = await define(tenant, { document: definition.document, do: definition.do });
    const alert = { name: 'Costs', measure: 'spend', period: 'Monthly', thresholds: [1] };
    await tenant.post('/v1/alerts', { ...alert, workflowId: 'billing-run' }).expect(400);
    const made = await tenant.post('/v1/alerts', { ...alert, workflowId: 'on-alert' }).expect(201);
    expect(made.body.workflowId).to.equal(id);
    const at = new Date().toISOString();
    const more = { dimensions: { api_calls: '100' }, eventTimestamp: at };
    await send(tenant, usage('acme', serviceId, more));
    await waitUntilRated(tenant, 1);
    const [execution] = await ended(tenant, id, 1);
    expect(execution.input).to.include({
      alertId: made.body.id,
      name: 'Costs',
      measure: 'spend',
      threshold: 1,
    });
    await tenant.put(`/v1/alerts/${made.body.id}`, { workflowId: null }).expect(200);
    const read = (await tenant.get(`/v1/alerts/${made.body.id}`).expect(200)).body;
    expect(read).to.deep.include({ workflowId: null, thresholds: [1] });
  });
});

// spec/beyond.md R339
describe("tenants' workflows: schedules", () => {
  let now = new Date('2026-11-25T05:59:58Z');
  const instance = useInstance({ now: () => now, tokenSeconds: 30 * 86_400 });
  const tenant = useTenant(instance);
  const waiting = async (): Promise<Body[]> =>
    (
      await instance.platform.database.home.platform.raw<{ rows: Body[] }>(
        'select definition_id, version, cause, body from workflow_start order by seq',
      )
    ).rows;
  const definition = {
    document: { dsl: '1.0.0', namespace: 'test', name: 'nightly', version: '1.0.0' },
    schedule: { cron: '0 7 * * *', timeZone: 'Europe/Berlin' },
    do: [{ a: { set: { n: 1 } } }],
  };

  it('start them at their time, once for what was missed, as their live version says', async () => {
    const { platform } = instance;
    const look = () => startScheduled(platform, platform.database.home);
    const never = { ...definition, schedule: { cron: '0 0 30 2 *' } };
    await tenant.post('/v1/workflows', { definition: never }).expect(400);
    const id = await define(tenant, definition);
    await look();
    expect(await waiting()).to.deep.equal([]);
    // 7:00 in Berlin is 6:00 UTC in winter.
    now = new Date('2026-11-25T06:00:00Z');
    await Promise.all([look(), look()]);
    const [first, ...others] = await waiting();
    expect(others).to.deep.equal([]);
    expect(first).to.include({ definition_id: id, version: 1, cause: 'schedule' });
    expect(JSON.parse(first.body).data).to.deep.equal({ scheduledAt: '2026-11-25T06:00:00.000Z' });
    now = new Date('2026-11-28T12:00:00Z');
    await look();
    await look();
    expect(await waiting()).to.have.length(2);
    const later = { ...definition, schedule: { cron: '0 13 * * *' } };
    await tenant.put(`/v1/workflows/${id}`, { definition: later }).expect(200);
    now = new Date('2026-11-28T13:00:00Z');
    await look();
    expect((await waiting()).map(({ version }) => version)).to.deep.equal([1, 1, 2]);
    await tenant.delete(`/v1/workflows/${id}`).expect(204);
    now = new Date('2026-11-30T13:00:00Z');
    await look();
    expect(await waiting()).to.have.length(3);
  });
});

// spec/beyond.md R410
describe('conditions on events that cannot be evaluated', () => {
  let now = new Date('2026-11-25T06:00:00Z');
  const lines: Body[] = [];
  const instance = useInstance({
    now: () => now,
    logTo: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const tenant = useTenant(instance);

  it('start nothing, and are seen: by the tenant, in the log once a minute, in the metrics', async () => {
    const { platform } = instance;
    const claim = () => claimDefinedStarts(platform, platform.database.home);
    const { path } = await makeRecordType(tenant);
    const conditions = {
      missing: '${ data.data.none == 1 }',
      text: '${ data.data.text }',
      dear: '${ data.data.list.all(a, data.data.list.all(b, a + b < 100000)) }',
      false: '${ has(data.data.none) }',
    };
    const ids = new Map<string, string>();
    for (const [name, data] of Object.entries(conditions)) {
      ids.set(name, await define(tenant, definitionOf(name, 'mdata.created', data)));
    }
    const list = Array.from({ length: 200 }, (_each, at) => at);
    const happen = () => tenant.post(path, { data: { text: 'yes', list } }).expect(201);
    for (let each = 0; each < 2; each += 1) {
      await happen();
      expect(await claim()).to.deep.equal({ claimed: 4, starts: [] });
    }
    const reasons: [string, RegExp, string][] = [
      ['missing', /No such key: none/, 'it cannot be evaluated'],
      ['text', /neither true nor false/, 'it cannot be evaluated'],
      ['dear', /costs more than it may/, 'it costs more than it may'],
    ];
    for (const [name, shown, logged] of reasons) {
      const { conditionFault } = (await tenant.get(`/v1/workflows/${name}`).expect(200)).body;
      const of = { at: now.toISOString(), version: 1, event: 'mdata.created', executionId: null };
      expect(conditionFault).to.deep.include(of);
      expect(conditionFault.reason).to.match(shown);
      const [line, ...others] = lines.filter(({ workflowId }) => workflowId === ids.get(name));
      expect(others).to.deep.equal([]);
      const subject = { level: 40, tenantId: tenant.id, version: 1, event: 'mdata.created' };
      expect(line).to.deep.include({ ...subject, executionId: null, reason: logged });
    }
    const fine = (await tenant.get('/v1/workflows/false').expect(200)).body;
    expect(fine.conditionFault).to.equal(null);
    const metrics = await platform.metrics.registry.metrics();
    expect(metrics).to.match(/^durabill_workflow_condition_faults_total{reason="failed"} 4$/m);
    expect(metrics).to.match(/^durabill_workflow_condition_faults_total{reason="cost"} 2$/m);
    now = new Date(now.getTime() + 60_000);
    await happen();
    await claim();
    expect(lines.filter(({ workflowId }) => workflowId === ids.get('dear'))).to.have.length(2);
    const { conditionFault } = (await tenant.get('/v1/workflows/dear').expect(200)).body;
    expect(conditionFault.at).to.equal(now.toISOString());
  });
});

describe('starts whose process has died', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  it('are claimed again, as the same execution, and by one alone', async () => {
    const { path } = await makeRecordType(tenant);
    await define(tenant, definitionOf('claimed', 'mdata.created', '${ data.data.n > 1 }'));
    for (const n of [1, 2, 3]) await tenant.post(path, { data: { n } }).expect(201);
    const cell = instance.platform.database.home;
    const ids = (some: Awaited<ReturnType<typeof reclaimDefinedStarts>>) =>
      some.map(({ run }) => run.executionId).sort();
    const both = await Promise.all([
      claimDefinedStarts(instance.platform, cell),
      claimDefinedStarts(instance.platform, cell),
    ]);
    const first = ids(both.flatMap(({ starts }) => starts));
    expect(both[0].claimed + both[1].claimed).to.equal(3);
    expect(new Set(first).size).to.equal(2);
    expect(await reclaimDefinedStarts(instance.platform, cell)).to.deep.equal([]);
    await cell.platform.raw(`update workflow_start set claimed_at = now() - interval '2 minutes'`);
    const again = await Promise.all([
      reclaimDefinedStarts(instance.platform, cell),
      reclaimDefinedStarts(instance.platform, cell),
    ]);
    expect(ids(again.flat())).to.deep.equal(first);
  });

  it('wait for no name that cannot be read', async () => {
    const other = await instance.tenant();
    for (const [one, name] of [
      [tenant, 'unread'],
      [other, 'read'],
    ] as const) {
      const { path } = await makeRecordType(one);
      await define(one, definitionOf(name, 'mdata.created'));
      await one.post(path, { data: {} }).expect(201);
    }
    const { clocks, database } = instance.platform;
    const failing = {
      of: {
        value: (id: string) =>
          id === tenant.id ? Promise.reject(new Error('away')) : clocks.of(id),
      },
    };
    const platform = {
      ...instance.platform,
      clocks: Object.create(clocks, failing) as typeof clocks,
    };
    const { starts } = await claimDefinedStarts(platform, database.home);
    const named = starts.map(({ run, name }) => `${run.tenantId}: ${name}`);
    expect(named).to.have.members([`${tenant.id}: `, `${other.id}: read`]);
  });
});

// spec/beyond.md R357
describe('executions of a tenant that run or wait', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  it('are 10,000 at most: more are refused, and what events start waits', async () => {
    const { path } = await makeRecordType(tenant);
    const id = await define(tenant, definitionOf('many', 'mdata.created'));
    const fill = async (count: number): Promise<void> => {
      await tenant.scope.db.transaction((trx) =>
        trx.raw(
          `insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, request_id,
           status, input, started_at)
         select ?, gen_random_uuid(), gen_random_uuid(), ?, 'filled/' || gen_random_uuid(), 'test',
           'test', 'running', '{}', now() from generate_series(1, ?::integer)`,
          [tenant.id, `runDefinition/${id}`, count],
        ),
      );
    };
    await fill(10_000);
    const execute = { data: {}, async: true };
    const { body } = await tenant.post('/v1/workflows/many/execute', execute).expect(409);
    expect(body.error.message).to.contain('10000 executions');
    await tenant.post(path, { data: {} }).expect(201);
    const cell = instance.platform.database.home;
    expect((await claimDefinedStarts(instance.platform, cell)).claimed).to.equal(0);
    // Another tenant does not wait.
    const other = await instance.tenant();
    const theirs = await makeRecordType(other);
    await define(other, definitionOf('few', 'mdata.created'));
    await other.post(theirs.path, { data: {} }).expect(201);
    expect((await claimDefinedStarts(instance.platform, cell)).claimed).to.equal(1);
    // One that ends makes room.
    await tenant.scope.db.transaction((trx) =>
      trx.raw(
        `update execution set status = 'completed', completed_at = now() where id in (
         select id from execution where tenant_id = ? and status = 'running' limit 1)`,
        [tenant.id],
      ),
    );
    expect((await claimDefinedStarts(instance.platform, cell)).claimed).to.equal(1);
  });
});
