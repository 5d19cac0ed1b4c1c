import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import fc from 'fast-check';
import { openLog } from '../../src/platform/log.js';
import { loadWorkflowBundle } from '../../src/worker/workflow-bundle.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';
import { tasksOf } from '../support/workflows/random-definitions.js';

/** How many are carried out: DURABILL_DEFINITIONS=500 for the long run. */
const count = Number(process.env['DURABILL_DEFINITIONS'] ?? 25);

describe('executions of random definitions', function () {
  this.timeout(count * 20_000);
  const instance = useInstance({ withWorkers: true });
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

  /** Executes a definition and replays what it did; how it ended. */
  async function replayed(definition: ReturnType<typeof definitionOf>): Promise<string> {
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
    for (const history of await historiesOf(waiter, place)) {
      await Worker.runReplayHistory({ workflowBundle }, history, place).catch((error: unknown) => {
        throw new Error(JSON.stringify(definition), { cause: error });
      });
    }
    return body.status;
  }

  // spec/beyond.md R359
  it('give the same commands when they are replayed', async () => {
    const random = tasksOf(2, {
      races: true,
      call: operation('listAccounts'),
      undo: operation('getAccount', { parameters: { accountId: '${ string(output.page) }' } }),
      waitMaxMs: 40,
      delay: { milliseconds: 20 },
    });
    const statuses: string[] = [];
    for (const [index, tasks] of fc.sample(random, count).entries()) {
      const definition = definitionOf(`r-${index}`, tasks);
      const published = await tenant.post('/v1/workflows', { definition });
      expect(published.status, JSON.stringify(definition)).to.equal(201);
      statuses.push(await replayed(definition));
    }
    expect(statuses).to.include.members(['completed', 'failed']);
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
    for (let index = 0; index < 10; index += 1) {
      expect(await replayed(definition)).to.equal('failed');
    }
  });
});
