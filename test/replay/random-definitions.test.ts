import type { HistoryAndWorkflowId } from '@temporalio/client';
import { expect } from 'chai';
import fc from 'fast-check';
import { openLog } from '../../src/platform/log.js';
import { loadWorkflowBundle } from '../../src/worker/workflow-bundle.js';
import { historiesOf, replayHistories, workflowIdOf } from '../support/servers/histories.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { tasksOf } from '../support/workflows/random-definitions.js';

/** How many are carried out: DURABILL_DEFINITIONS=500 for the long run. */
const count = Number(process.env['DURABILL_DEFINITIONS'] ?? 25);

describe('executions of random definitions', function () {
  this.timeout(count * 20_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  const operation = (operationId: string, more: object = {}) => ({
    call: 'durabill.operation',
    with: { operationId, ...more },
  });
  let workflowBundle: Awaited<ReturnType<typeof loadWorkflowBundle>>;
  before(async () => {
    workflowBundle = await loadWorkflowBundle(openLog('silent'));
  });

  const definitionOf = (name: string, tasks: readonly object[]) => ({
    document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' },
    do: tasks,
  });

  interface Executed {
    readonly status: string;
    readonly histories: readonly HistoryAndWorkflowId[];
  }

  /** Executes a definition: how it ended, and what it did, by names that tell the definition. */
  async function execute(definition: ReturnType<typeof definitionOf>): Promise<Executed> {
    const { waiter } = instance.platform.temporal;
    const { body } = await tenant
      .post(`/v1/workflows/${definition.document.name}/execute`, {
        data: { n: 2, list: [1, 2, 3] },
      })
      .expect(200);
    const place = await workflowIdOf(tenant, body.executionId);
    await waiter.workflow
      .getHandle(place)
      .result()
      .catch(() => undefined);
    const histories = await historiesOf(waiter, place);
    const workflowId = JSON.stringify(definition);
    return {
      status: body.status,
      histories: histories.map((history) => ({ workflowId, history })),
    };
  }
  const replay = (executed: readonly Executed[]): Promise<void> =>
    replayHistories(
      workflowBundle,
      executed.flatMap(({ histories }) => histories),
    );

  // spec/beyond.md R359
  it('give the same commands when they are replayed', async () => {
    const random = tasksOf(2, {
      races: true,
      call: operation('listAccounts'),
      undo: operation('getAccount', { parameters: { accountId: '${ string(output.page) }' } }),
      waitMaxMs: 40,
      delay: { milliseconds: 20 },
    });
    const executed: Executed[] = [];
    for (const [index, tasks] of fc.sample(random, count).entries()) {
      const definition = definitionOf(`r-${index}`, tasks);
      const published = await tenant.post('/v1/workflows', { definition });
      expect(published.status, JSON.stringify(definition)).to.equal(201);
      executed.push(await execute(definition));
    }
    await replay(executed);
    expect(executed.map(({ status }) => status)).to.include.members(['completed', 'failed']);
  });

  // spec/beyond.md R359
  it('do so with branches that keep what they did at the same time', async () => {
    const stop = { raise: { error: { type: 'urn:no', status: 422 } } };
    const retry = { delay: { milliseconds: 20 }, limit: { attempt: { count: 2 } } };
    const look = operation('listAccounts');
    const branches = [
      { calls: { try: [{ stop }], catch: { do: [{ first: look }, { second: look }] } } },
      { waits: { try: [{ stop }], catch: { retry, do: [{ last: stop }] } } },
    ];
    const definition = definitionOf('beside', [{ fork: { fork: { branches } } }]);
    await tenant.post('/v1/workflows', { definition }).expect(201);
    // Which branch goes on first is a matter of milliseconds: half of them went another way.
    const executed: Executed[] = [];
    for (let index = 0; index < 10; index += 1) executed.push(await execute(definition));
    await replay(executed);
    expect(executed.map(({ status }) => status)).to.deep.equal(Array(10).fill('failed'));
  });
});
