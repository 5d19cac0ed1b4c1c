import { expect } from 'chai';
import { hideInRecords } from '../../src/activities/workflows/put-secret.js';
import { json, openServer } from '../support/servers/elsewhere.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const fromServer = 'server "4711"';
const fromInput = 'input-4712';

// spec/beyond.md R408
describe("tenants' workflows that give secrets their values", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let server: Awaited<ReturnType<typeof openServer>>;
  before(async () => {
    server = await openServer();
  });
  after(() => server.close());

  const document = { dsl: '1.0.0', namespace: 'test', name: 'renew', version: '1.0.0' };
  const put = (name: string, value: string) => ({
    call: 'durabill.operation',
    with: { operationId: 'putSecret', parameters: { name }, body: { value } },
  });

  it('show them nowhere in what is recorded, and can send them', async () => {
    for (const name of ['ONE', 'TWO']) {
      await tenant.put(`/v1/secrets/${name}`, { value: 'before' }).expect(200);
    }
    server.answer = json({ token: fromServer, kind: 'Bearer' });
    const ask = { call: 'http', with: { method: 'GET', endpoint: server.url } };
    const headers = { a: '${ secrets.ONE }', b: '${ "x" + secrets.TWO }' };
    const tasks = [
      { ask },
      { one: put('ONE', '${ input.token }') },
      { two: put('TWO', '${ workflow.input.keys[0] }') },
      { sent: { call: 'http', with: { ...ask.with, headers } } },
      { done: { set: { done: true } } },
    ];
    await tenant.post('/v1/workflows', { definition: { document, do: tasks } }).expect(201);
    const path = '/v1/workflows/renew';
    const data = { keys: [fromInput], other: 'stays' };
    const { body } = await tenant.post(`${path}/execute`, { data }).expect(200);
    expect(body).to.deep.include({ status: 'completed', error: null });
    const { headers: sent = {} } = server.asked.at(-1) ?? {};
    expect(sent).to.include({ a: fromServer, b: `x${fromInput}` });
    const execution = (await tenant.get(`${path}/executions/${body.executionId}`).expect(200)).body;
    expect(execution.input).to.deep.equal({ keys: ['***'], other: 'stays' });
    const timeline = (
      await tenant.get(`${path}/executions/${body.executionId}/timeline`).expect(200)
    ).body.data;
    expect(timeline[0].output).to.deep.equal({ token: '***', kind: 'Bearer' });
    expect(timeline[1].input).to.deep.equal({ token: '***', kind: 'Bearer' });
    expect(JSON.stringify([execution, timeline])).not.to.match(/471[12]/);
  });

  it('hide them in whatever way they are written, in what tasks gave and failed with', async () => {
    await tenant.put('/v1/secrets/THREE', { value: 'before' }).expect(200);
    // Read as bytes its first letter is a U+0000, which no text of the database has.
    const token = 'Āb/c 4713';
    const inside = JSON.stringify({ token });
    const waysOf = {
      inForm: `t=${encodeURIComponent(token)}`,
      base64: Buffer.from(token).toString('base64'),
      inside,
      fine: '50%',
    };
    server.answer = json(waysOf);
    const ask = { call: 'http', with: { method: 'GET', endpoint: server.url } };
    const error = { type: 'urn:off', title: 'Off', status: 409 };
    const tasks = [
      { ask },
      {
        failing: {
          try: [{ off: { raise: { error: { ...error, detail: '${ input.inside }' } } } }],
          catch: {},
        },
      },
      { three: put('THREE', '${ workflow.input.token }') },
    ];
    const { body: of } = await tenant
      .post('/v1/workflows', { definition: { document: { ...document, name: 'ways' }, do: tasks } })
      .expect(201);
    const path = `/v1/workflows/${of.id}`;
    const { body } = await tenant.post(`${path}/execute`, { data: { token } }).expect(200);
    expect(body).to.deep.include({ status: 'completed', error: null });
    const { data } = (
      await tenant.get(`${path}/executions/${body.executionId}/timeline`).expect(200)
    ).body;
    const shown = { inForm: 't=***', base64: '***', inside: '{"token":"***"}', fine: '50%' };
    expect(data[0].output).to.deep.equal(shown);
    expect(data[2]).to.deep.include({ name: 'off', input: shown });
    expect(data[2].error.detail).to.equal(shown.inside);
  });

  it('hide them in what other branches do meanwhile', async () => {
    await tenant.put('/v1/secrets/FOUR', { value: 'before' }).expect(200);
    const token = 'meanwhile-4714';
    const branches = [
      { putting: put('FOUR', '${ workflow.input.token }') },
      { beside: { do: [{ a: { set: { b: '${ workflow.input.token }' } } }, { b: { set: {} } }] } },
    ];
    const tasks = [{ both: { fork: { branches } } }, { done: { set: { done: true } } }];
    const definition = { document: { ...document, name: 'beside' }, do: tasks };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const path = '/v1/workflows/beside';
    const { body } = await tenant.post(`${path}/execute`, { data: { token } }).expect(200);
    expect(body).to.deep.include({ status: 'completed', output: { done: true } });
    const { data } = (
      await tenant.get(`${path}/executions/${body.executionId}/timeline`).expect(200)
    ).body;
    expect(data.find(({ name }: { name: string }) => name === 'a').output).to.deep.equal({
      b: '***',
    });
    expect(JSON.stringify([body, data])).not.to.contain('4714');
  });

  it('hide them before they are put: a step that is canceled behind that cannot', async () => {
    await tenant.put('/v1/secrets/FIVE', { value: 'before' }).expect(200);
    const asked = new Promise<() => void>((resolve) => {
      server.answer = (request, response) => resolve(() => json({})(request, response));
    });
    const ask = { call: 'http', with: { method: 'GET', endpoint: server.url } };
    const tasks = [{ ask }, { five: put('FIVE', '${ workflow.input.token }') }];
    const definition = { document: { ...document, name: 'first' }, do: tasks };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const path = '/v1/workflows/first';
    const start = { data: { token: 'first-4716' }, async: true };
    const { executionId } = (await tenant.post(`${path}/execute`, start).expect(200)).body;
    const answer = await asked;
    await asOwner(instance.databaseUrl, async (holder) => {
      await holder.query('begin');
      await holder.query('select from execution where id = $1 for no key update', [executionId]);
      await asOwner(instance.databaseUrl, async (client) => {
        const read = async (sql: string): Promise<object[]> =>
          (await client.query<object>(sql)).rows;
        const secrets = () => read('select name, sealed from workflow_secret order by name');
        const before = await secrets();
        answer();
        const waits = `select from pg_stat_activity where wait_event_type = 'Lock'
          and datname = current_database() and query like '%input ->> ''start''%'`;
        while ((await read(waits)).length === 0);
        expect(await secrets()).to.deep.equal(before);
      });
      await holder.query('commit');
    });
    const execution = `${path}/executions/${executionId}`;
    for (;;) {
      const { body } = await tenant.get(execution).expect(200);
      if (body.status === 'running') continue;
      expect(body).to.deep.include({ status: 'completed', input: { token: '***' } });
      break;
    }
  });

  it('look again only through what may have them', async () => {
    const tasks = [
      { first: { set: { text: '50% "off" & more', key: 'key-4715' } } },
      { second: { set: { text: '50% "off" & more' } } },
    ];
    const definition = { document: { ...document, name: 'again' }, do: tasks };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const path = '/v1/workflows/again';
    const { body } = await tenant.post(`${path}/execute`, { data: {} }).expect(200);
    const { executionId } = body;
    const { scope, id: tenantId } = tenant;
    const input = { definitionId: body.workflowId, version: 1, start: {}, depth: 1 };
    const run = { executionId, tenantId, orgId: null, actor: 'test', requestId: 'test', input };
    // Whatever was not looked through is.
    await hideInRecords(scope, run, 'nowhere-4715');
    await scope.db.transaction(async (trx) => {
      const held = `select from workflow_task where tenant_id = ? and execution_id = ? for update`;
      await trx.raw(held, [tenantId, executionId]);
      // Nothing that it would wait for.
      await hideInRecords(scope, run, 'elsewhere-4715');
    });
    await hideInRecords(scope, run, 'key-4715');
    const { data } = (await tenant.get(`${path}/executions/${executionId}/timeline`).expect(200))
      .body;
    const shown = { text: '50% "off" & more', key: '***' };
    expect(data[0].output).to.deep.equal(shown);
    expect(data[1].input).to.deep.equal(shown);
    // As a process of a version before does it, which knows no marks.
    await scope.db.transaction((trx) =>
      trx.raw(
        `update workflow_task set output = '{"key": "later-4717"}'
         where tenant_id = ? and execution_id = ? and seq = 2`,
        [tenantId, executionId],
      ),
    );
    await hideInRecords(scope, run, 'later-4717');
    const later = (await tenant.get(`${path}/executions/${executionId}/timeline`).expect(200)).body;
    expect(later.data[1].output).to.deep.equal({ key: '***' });
  });

  it('do not have them written into their definition', async () => {
    const from = (body: unknown) => ({
      call: 'durabill.operation',
      with: { operationId: 'putSecret', parameters: { name: 'ONE' }, body },
    });
    const tasks = [
      { text: put('ONE', 'written 4711') },
      { expression: put('ONE', '${ "written" + " 4711" }') },
      { whole: from('${ {"value": "written 4711"} }') },
      { undone: { set: {}, 'durabill.undo': put('ONE', '${ "written 4711" }') } },
      // What an answer or the input has.
      { some: put('ONE', '${ "Bearer " + input.token }') },
      { all: from('${ {"value": workflow.input.token} }') },
    ];
    const definition = { document, do: tasks };
    const { body } = await tenant.post('/v1/workflows/validate', { definition }).expect(200);
    const message =
      'Whoever reads the definition would see it: give what an answer or the input has.';
    expect(body.faults).to.deep.equal(
      [
        '/do/0/text/with/body/value',
        '/do/1/expression/with/body/value',
        '/do/2/whole/with/body',
        '/do/3/undone/durabill.undo/with/body/value',
      ].map((pointer) => ({ pointer, message })),
    );
  });
});
