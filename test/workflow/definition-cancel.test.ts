import { setTimeout as pause } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { expect } from 'chai';
import { json, openServer } from '../support/servers/elsewhere.js';
import { workflowIdOf } from '../support/servers/histories.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;
type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

const { PENDING_ACTIVITY_STATE_CANCEL_REQUESTED: cancelRequested } =
  proto.temporal.api.enums.v1.PendingActivityState;

const listOf = (length: number): number[] => Array.from({ length }, (_each, at) => at);
const definitionOf = (name: string, tasks: object[]): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: tasks,
  },
});

describe("tenants' workflows that are canceled within a call", function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  let server: Awaited<ReturnType<typeof openServer>>;
  let answerHeld: () => void;
  let isHeld: Promise<void>;
  beforeEach(async () => {
    server = await openServer();
    isHeld = new Promise((resolve) => {
      server.answer = (asked, response) => {
        const answer = (): void => json({ id: 1 })(asked, response);
        if (asked.url !== '/held' || asked.method !== 'POST') {
          answer();
          return;
        }
        answerHeld = answer;
        resolve();
      };
    });
  });
  afterEach(() => server.close());

  const call = (method: string, path: string) => ({
    call: 'http',
    with: { method, endpoint: `${server.url}/${path}` },
  });
  /** A call that is taken back by another one. */
  const made = (path: string) => ({ ...call('POST', path), 'durabill.undo': call('DELETE', path) });
  const begin = async (name: string, tasks: object[], data: object): Promise<string> => {
    await tenant.post('/v1/workflows', definitionOf(name, tasks)).expect(201);
    const path = `/v1/workflows/${name}`;
    const { body } = await tenant.post(`${path}/execute`, { data, async: true }).expect(200);
    return `${path}/executions/${body.executionId}`;
  };
  const handleOf = async (path: string) => {
    const { workflow } = instance.platform.temporal.waiter;
    return workflow.getHandle(await workflowIdOf(tenant, path.split('/').at(-1) ?? ''));
  };
  /** Cancels it while its call is held, which is answered once the call is known to be canceled. */
  const cancelWithin = async (path: string, meanwhile?: () => Promise<void>): Promise<Body> => {
    await isHeld;
    await tenant.post(`${path}/cancel`).expect(200);
    const handle = await handleOf(path);
    const isCanceled = async (): Promise<boolean> =>
      ((await handle.describe()).raw.pendingActivities ?? []).some(
        ({ state }) => state === cancelRequested,
      );
    while (!(await isCanceled())) await pause(20);
    await meanwhile?.();
    answerHeld();
    return endOf(path);
  };
  const endOf = async (path: string): Promise<Body> => {
    for (;;) {
      const { body } = await tenant.get(path).expect(200);
      if (body.status !== 'running') return body;
      await pause(50);
    }
  };
  /** Has a change fail as on a disk that is full, which is waited for; what mends it. */
  const breakOn = async (change: string): Promise<() => Promise<void>> => {
    const run = (sql: string): Promise<unknown> =>
      asOwner(instance.databaseUrl, (client) => client.query(sql));
    await run(`
      create function fail() returns trigger language plpgsql security definer as $$
      begin raise exception 'failed by the test' using errcode = '53100'; end $$;
      create trigger fail before ${change} execute function fail()`);
    return async () => {
      await run('drop function if exists fail cascade');
    };
  };
  /** Waits until the newest events are right: whole histories are longer than one answer. */
  const waitFor = async (path: string, isRight: (newest: readonly HistoryEvent[]) => boolean) => {
    const { options, workflowService } = instance.platform.temporal.waiter;
    const { workflowId } = await handleOf(path);
    const asked = { namespace: options.namespace, execution: { workflowId }, maximumPageSize: 8 };
    for (;;) {
      const { history } = await workflowService.getWorkflowExecutionHistoryReverse(asked);
      if (isRight(history?.events ?? [])) return;
      await pause(100);
    }
  };
  const isWaiting = (newest: readonly HistoryEvent[]): boolean =>
    newest.some((event) => event.timerStartedEventAttributes);
  /** Whether it has gone on since it was asked to end. */
  const knows = (newest: readonly HistoryEvent[]): boolean => {
    const at = newest.findIndex((event) => event.workflowExecutionCancelRequestedEventAttributes);
    return newest
      .slice(0, Math.max(at, 0))
      .some((event) => event.workflowTaskCompletedEventAttributes);
  };
  const deleted = (): string[] =>
    server.asked.filter(({ method }) => method === 'DELETE').map(({ url }) => url);

  // spec/beyond.md R332
  it('end canceled also where they were to go on in another history', async () => {
    // Temporal says that a history is long from 4 MiB on: that is less than fourteen times the input.
    const text = 'x'.repeat(313_000);
    const loop = { for: { in: '${ workflow.input.list }' }, do: [{ one: made('first') }] };
    const never = { set: { never: true } };
    const tasks = [{ small: { set: { n: 1 } } }, { loop }, { held: made('held') }, { never }];
    const path = await begin('between', tasks, { list: listOf(12), text });
    expect((await cancelWithin(path)).status).to.equal('canceled');
    expect(deleted()).to.deep.equal(['/held', ...listOf(12).map(() => '/first')]);
    const { data } = (await tenant.get(`${path}/timeline`).expect(200)).body;
    expect(data.map(({ name }: Body) => name)).to.not.include('never');
  });

  // spec/beyond.md R332, R416
  it('end canceled also while what they did is written before they go on in another history', async () => {
    const text = 'x'.repeat(313_000);
    const loop = { for: { in: '${ workflow.input.list }' }, do: [{ one: made('first') }] };
    const last = [{ held: made('held') }, { never: made('never') }];
    const tasks = [{ small: { set: { n: 1 } } }, { loop }, ...last];
    const path = await begin('written', tasks, { list: listOf(12), text });
    await isHeld;
    // What was done before the call is written with it, and not what breaks.
    const isThere = async (): Promise<boolean> =>
      (await tenant.get(`${path}/timeline`).expect(200)).body.data.some(
        ({ name }: Body) => name === 'held',
      );
    while (!(await isThere())) await pause(50);
    const mend = await breakOn('insert on workflow_task for each statement');
    try {
      answerHeld();
      await waitFor(path, isWaiting);
      await tenant.post(`${path}/cancel`).expect(200);
      await waitFor(path, knows);
    } finally {
      await mend();
    }
    expect((await endOf(path)).status).to.equal('canceled');
    expect(deleted()).to.deep.equal(['/held', ...listOf(12).map(() => '/first')]);
    expect(server.asked.some(({ url }) => url === '/never')).to.equal(false);
  });

  // spec/beyond.md R332, R416
  it('are completed when that comes while their end is written: nothing is taken back', async () => {
    const change = "update on execution for each row when (new.status = 'completed')";
    const mend = await breakOn(change);
    let path: string;
    try {
      path = await begin('ending', [{ first: made('first') }], {});
      await waitFor(path, isWaiting);
      await tenant.post(`${path}/cancel`).expect(200);
      await waitFor(path, knows);
    } finally {
      await mend();
    }
    expect((await endOf(path)).status).to.equal('completed');
    expect(deleted()).to.deep.equal([]);
  });

  // spec/beyond.md R332
  it('take back the call that was made although what was done before it is not in the timeline', async () => {
    const tasks = [
      { first: { set: { n: 1 } } },
      { held: made('held') },
      { never: { set: { n: 2 } } },
    ];
    const ended = await asOwner(instance.databaseUrl, async (client) => {
      await client.query(`
        create function fail() returns trigger language plpgsql security definer as $$
        begin raise exception 'failed by the test'; end $$;
        create trigger fail before insert on workflow_task
          for each statement execute function fail()`);
      const mend = async (): Promise<void> => {
        await client.query('drop function if exists fail cascade');
      };
      try {
        return await cancelWithin(await begin('unkept', tasks, {}), mend);
      } finally {
        await mend();
      }
    });
    expect(ended.status).to.equal('canceled');
    expect(server.asked.map(({ method }) => method)).to.deep.equal(['POST', 'DELETE']);
  });
});
