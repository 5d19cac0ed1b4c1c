import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { awayFailureType } from '../../src/messages/flow-run.js';
import type { KeptTask, TaskStatus } from '../../src/messages/definitions/task.js';
import { WorkflowTask } from '../../src/models/workflows/task.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

const make = (externalId: string, accountId = '${ output.id }') => ({
  call: 'durabill.operation',
  with: { operationId: 'createAccount', body: { name: externalId, externalId } },
  'durabill.undo': {
    call: 'durabill.operation',
    with: { operationId: 'deleteAccount', parameters: { accountId } },
  },
});

describe('the timeline of an execution', () => {
  const instance = useInstance({
    withWorkers: true,
    activityInterceptors: [
      () => ({
        inbound: {
          execute(input, next): Promise<unknown> {
            const { activityType, attempt } = Context.current().info;
            const isAway = activityType === 'callTask' && attempt < 3;
            return isAway && JSON.stringify(input.args).includes('"flaky"')
              ? Promise.reject(ApplicationFailure.retryable('No database.', awayFailureType))
              : next(input);
          },
        },
      }),
    ],
  });
  const tenant = useTenant(instance);

  const timelineOf = async (name: string, tasks: object[]): Promise<Body[]> => {
    const document = { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' };
    await tenant.post('/v1/workflows', { definition: { document, do: tasks } }).expect(201);
    const path = `/v1/workflows/${name}`;
    const { body } = await tenant.post(`${path}/execute`, { data: {} }).expect(200);
    return (await tenant.get(`${path}/executions/${body.executionId}/timeline`).expect(200)).body
      .data;
  };

  // spec/beyond.md R397
  it('shows what was taken back, when, and what was not', async () => {
    const tasks = await timelineOf('undone', [
      { first: make('first') },
      // There is no such account to be deleted.
      { second: make('second', '0190a000-0000-7000-8000-000000000000') },
      { third: make('third') },
      { stop: { raise: { error: { type: 'urn:x', status: 409 } } } },
    ]);
    const taken = tasks.map(({ name, undoneAt }) => [name, undoneAt !== null]);
    expect(taken).to.deep.equal([
      ['first', true],
      ['second', false],
      ['third', true],
      ['stop', false],
    ]);
    const [first, , third] = tasks;
    expect(Date.parse(first.undoneAt)).to.be.at.least(Date.parse(third.undoneAt));
    expect(Date.parse(third.undoneAt)).to.be.at.least(Date.parse(third.endedAt));
  });

  // spec/beyond.md R397
  it('counts attempts: of calls that were made again, and of what is tried', async () => {
    const tasks = await timelineOf('attempts', [
      { once: { call: 'durabill.operation', with: { operationId: 'listAccounts' } } },
      {
        thrice: {
          call: 'durabill.operation',
          with: { operationId: 'listAccounts', parameters: { q: 'flaky' } },
        },
      },
      {
        tried: {
          try: [{ no: { raise: { error: { type: 'urn:x', status: 409 } } } }],
          catch: {
            retry: { delay: { milliseconds: 5 }, limit: { attempt: { count: 2 } } },
            do: [{ go: { set: { done: true } } }],
          },
        },
      },
    ]);
    const attempts = tasks.map(({ name, status, attempts: count }) => [name, status, count]);
    expect(attempts).to.deep.equal([
      ['once', 'completed', 1],
      ['thrice', 'completed', 3],
      ['tried', 'completed', 2],
      ['no', 'failed', 1],
      ['no', 'failed', 1],
      ['go', 'completed', 1],
    ]);
  });

  // spec/beyond.md R401
  it('is the same in whatever order its rows come, and however often', async () => {
    const [task] = await timelineOf('late', [{ only: { set: { n: 1 } } }]);
    const { body } = await tenant.get('/v1/workflows/late/executions?limit=1').expect(200);
    const [{ executionId }] = body.data;
    const at = new Date(task.startedAt).toISOString();
    const row = (seq: number, status: TaskStatus, more: Partial<KeptTask> = {}): KeptTask => ({
      seq,
      path: `/do/${seq}/late`,
      name: 'late',
      kind: 'call',
      status,
      attempts: 1,
      startedAt: at,
      input: null,
      output: null,
      error: null,
      ...more,
    });
    const ended = { endedAt: at, output: '{"made":true}', attempts: 2 };
    const orders = [
      [0, 1],
      [1, 0],
      [1, 0, 1, 0],
    ];
    for (const [index, order] of orders.entries()) {
      const seq = 100 + index;
      const rows = [row(seq, 'running', { input: '{"n":1}' }), row(seq, 'completed', ended)];
      for (const which of order) {
        await tenant.scope.db.transaction((trx) =>
          WorkflowTask.keep(trx, tenant.id, executionId, rows.slice(which, which + 1)),
        );
      }
    }
    const path = `/v1/workflows/late/executions/${executionId}/timeline`;
    const all: Body[] = (await tenant.get(path).expect(200)).body.data;
    const shown = all.slice(1).map(({ status, input, output, attempts, endedAt }) => {
      return { status, input, output, attempts, isEnded: endedAt !== null };
    });
    const same = { input: { n: 1 }, output: { made: true }, attempts: 2, isEnded: true };
    expect(shown).to.deep.equal(orders.map(() => ({ status: 'completed', ...same })));
  });
});
