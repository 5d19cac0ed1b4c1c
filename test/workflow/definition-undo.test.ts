import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { json, openServer } from '../support/servers/elsewhere.js';
import { workflowIdOf } from '../support/servers/histories.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { until } from '../start/workbench.js';

/** Tasks of the longest of these executions: DURABILL_UNDO=9 makes them 9,000, with less beside each. */
const rounds = Number(process.env['DURABILL_UNDO'] ?? 1);
const perRound = process.env['DURABILL_UNDO'] === undefined ? 40 : 1_000;

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const definitionOf = (name: string, tasks: object[]): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: tasks,
  },
});
const listOf = (length: number): number[] => Array.from({ length }, (_each, at) => at);
/** What the tasks after it are given, and carry on. */
const small = { set: { n: 1 } };
const stop = { raise: { error: { type: 'urn:stop', status: 409, title: 'Stop' } } };

describe("what takes tasks of tenants' workflows back", function () {
  this.timeout(rounds * 240_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let server: Awaited<ReturnType<typeof openServer>>;
  beforeEach(async () => {
    server = await openServer();
    server.answer = json({ id: 1 });
  });
  afterEach(() => server.close());

  /** A loop of tasks, calls by themselves, each of which a call takes back. */
  const loopOf = (back: object, task?: object): object => {
    const call = (method: string, more: object = {}) => ({
      call: 'http',
      with: { method, endpoint: `\${ "${server.url}/" + string(x) }`, ...more },
    });
    const made = { ...(task ?? call('GET')), 'durabill.undo': call('PUT', back) };
    return { for: { each: 'x', in: '${ workflow.input.list }' }, do: [{ made }] };
  };
  const begin = async (name: string, data: object): Promise<string> => {
    const path = `/v1/workflows/${name}/execute`;
    return (await tenant.post(path, { data, async: true }).expect(200)).body.executionId;
  };
  const endOf = async (name: string, id: string): Promise<Body> => {
    for (;;) {
      const { body } = await tenant.get(`/v1/workflows/${name}/executions/${id}`).expect(200);
      if (body.status !== 'running') return body;
      await pause(100);
    }
  };
  /** Blocks that are kept outside of histories. */
  const blocksOf = (id: string): Promise<number> =>
    asOwner(instance.databaseUrl, async (client) => {
      const sql = 'select count(*)::integer as blocks from workflow_undo where execution_id = $1';
      return (await client.query<{ blocks: number }>(sql, [id])).rows[0]?.blocks ?? 0;
    });
  /** In how many histories an execution was: Temporal lists them a moment later. */
  const historiesOf = async (id: string): Promise<number> => {
    const query = `WorkflowId = "${await workflowIdOf(tenant, id)}"`;
    return (await instance.platform.temporal.lister.workflow.count(query)).count;
  };
  const takenBack = () => server.asked.filter(({ method }) => method === 'PUT');

  // spec/beyond.md R409, R415
  it('is all done, however many bytes it has, and is gone soon after the execution', async () => {
    // 180,000 bytes each, 2.1 MB together.
    const text = '語'.repeat(60_000);
    let blocks = -1;
    const last = { call: 'http', with: { method: 'DELETE', endpoint: server.url } };
    const tasks = [{ loop: loopOf({ body: '${ workflow.input.text }' }) }, { last }];
    await tenant.post('/v1/workflows', definitionOf('much', tasks)).expect(201);
    let id = '';
    server.answer = (asked, response) => {
      if (asked.method !== 'DELETE') json({ id: 1 })(asked, response);
      else {
        void blocksOf(id).then((found) => {
          blocks = found;
          json({}, 409)(asked, response);
        });
      }
    };
    id = await begin('much', { list: listOf(12), text });
    const { status, error } = await endOf('much', id);
    expect(status, error?.message).to.equal('failed');
    expect(error.details.error).to.include({ instance: '/do/1/last', status: 409 });
    expect(error.details.undone).to.deep.equal(listOf(12).map(() => '/do/0/loop/do/0/made'));
    expect(takenBack().map(({ url }) => url)).to.deep.equal(listOf(12).map((at) => `/${11 - at}`));
    for (const { body } of takenBack()) expect(body === text).to.equal(true);
    // Two at a time are too many for the state.
    expect(blocks).to.equal(6);
    const areGone = async (): Promise<boolean> => (await blocksOf(id)) === 0;
    await until(areGone, 30_000, 'what is not called any more is gone');
  });

  /** An execution with blocks beside its own, the first of which is kept with its second task. */
  const runBeside = async (name: string, fill: (id: string) => Promise<void>): Promise<Body> => {
    const tasks = [{ loop: loopOf({ body: '${ workflow.input.text }' }) }, { stop }];
    await tenant.post('/v1/workflows', definitionOf(name, tasks)).expect(201);
    let tell = (_id: string): void => undefined;
    const filled = new Promise<string>((resolve) => {
      tell = resolve;
    }).then(fill);
    server.answer = (asked, response) => void filled.then(() => json({ id: 1 })(asked, response));
    const id = await begin(name, { list: listOf(12), text: '語'.repeat(60_000) });
    tell(id);
    await filled;
    return endOf(name, id);
  };
  /** Keeps blocks of so many bytes for an execution, which are never called. */
  const keepBlocks = (id: string, count: number, bytes: number): Promise<void> =>
    asOwner(instance.databaseUrl, async (client) => {
      const sql = `insert into workflow_undo (tenant_id, execution_id, block, calls)
        select $1, $2, 1000 + at, repeat('x', $4) from generate_series(1, $3::integer) as at`;
      await client.query(sql, [tenant.id, id, count, bytes]);
    });
  const failedAtLimit = ({ status, error }: Body, message: RegExp): void => {
    expect(status, error?.message).to.equal('failed');
    expect(error.code).to.equal('LIMIT_REACHED');
    expect(error.message).to.match(message);
    expect(error.details.error.instance).to.equal('/do/0/loop/do/0/made');
    // The first two were done, and the second one was too much.
    expect(error.details.undone).to.deep.equal(listOf(2).map(() => '/do/0/loop/do/0/made'));
    expect(takenBack().map(({ url }) => url)).to.deep.equal(['/1', '/0']);
  };

  // spec/beyond.md R415
  it('has 64 MiB of an execution: the task that passes them fails, and all is taken back', async () => {
    // The block of the second task has 360,000 bytes and what stands beside them.
    const tight = await runBeside('tight', (id) => keepBlocks(id, 1, 67_108_864 - 360_000));
    failedAtLimit(tight, /at most 67108864 bytes together.*the ids of what was made/);
    const roomy = await runBeside('roomy', (id) => keepBlocks(id, 1, 67_108_864 - 2_300_000));
    expect(roomy.error.details.error.title).to.equal('Stop');
    expect(roomy.error.details.undone).to.have.length(12);
  });

  // spec/beyond.md R415
  it('has 1 GiB of all executions of a tenant', async () => {
    await tenant.post('/v1/workflows', definitionOf('other', [{ small }])).expect(201);
    const other = await begin('other', {});
    await endOf('other', other);
    // Before the execution begins: a call of it that waited for a gibibyte would not be answered in time.
    await keepBlocks(other, 16, 67_108_864 - 10_000);
    const full = await runBeside('full', () => Promise.resolve());
    await asOwner(instance.databaseUrl, (client) =>
      client.query('delete from workflow_undo where execution_id = $1', [other]),
    );
    failedAtLimit(full, /at most 1073741824 bytes in all executions that run/);
  });

  // spec/beyond.md R332, R415
  it('goes on in other histories, as the tasks before it would', async () => {
    // Each call has the input beside it, 20 MB together, and 4 MB are in a history.
    const text = 'x'.repeat(20_000_000 / (rounds * perRound));
    const outer = {
      for: { each: 'i', in: '${ workflow.input.rounds }' },
      do: [{ loop: loopOf({}, { set: { n: 1 } }) }],
    };
    const tasks = [{ small }, { outer }, { stop }];
    await tenant.post('/v1/workflows', definitionOf('long', tasks)).expect(201);
    const id = await begin('long', { rounds: listOf(rounds), list: listOf(perRound), text });
    const { status, error } = await endOf('long', id);
    expect(status, error?.message).to.equal('failed');
    expect(error.details.error.title).to.equal('Stop');
    const round = listOf(perRound).map((at) => `/${perRound - 1 - at}`);
    const made = listOf(rounds).flatMap(() => round);
    expect(takenBack().map(({ url }) => url)).to.deep.equal(made);
    expect(error.details.undone[0]).to.equal('/do/1/outer/do/0/loop/do/0/made');
    expect(error.details.undone.join()).to.not.contain('made (failed)');
    const isOver = async (): Promise<boolean> => (await historiesOf(id)) > 4;
    await until(isOver, 60_000, 'more than four histories');
  });

  // spec/beyond.md R332, R415
  it('goes on in other histories after a cancellation, too', async () => {
    const text = 'x'.repeat(520_000);
    const rest = { wait: 'PT1H' };
    const tasks = [{ small }, { loop: loopOf({}) }, { rest }];
    await tenant.post('/v1/workflows', definitionOf('stopped', tasks)).expect(201);
    const id = await begin('stopped', { list: listOf(20), text });
    const path = `/v1/workflows/stopped/executions/${id}`;
    for (;;) {
      const { data } = (await tenant.get(`${path}/timeline`).expect(200)).body;
      if (data.some(({ name }: Body) => name === 'rest')) break;
      await pause(50);
    }
    await tenant.post(`${path}/cancel`).expect(200);
    expect((await endOf('stopped', id)).status).to.equal('canceled');
    expect(takenBack().map(({ url }) => url)).to.deep.equal(listOf(20).map((at) => `/${19 - at}`));
    // 10 MB each before and after it, of which one history has four.
    const isOver = async (): Promise<boolean> => (await historiesOf(id)) > 4;
    await until(isOver, 60_000, 'more than four histories');
  });
});
