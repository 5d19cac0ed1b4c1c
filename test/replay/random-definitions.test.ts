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

  // spec/beyond.md R359
  it('give the same commands when they are replayed', async () => {
    const operation = (operationId: string, more: object = {}) => ({
      call: 'durabill.operation',
      with: { operationId, ...more },
    });
    const random = tasksOf(2, {
      races: true,
      call: operation('listAccounts'),
      undo: operation('getAccount', { parameters: { accountId: '${ string(output.page) }' } }),
      waitMaxMs: 40,
      delay: { milliseconds: 20 },
    });
    const workflowBundle = await loadWorkflowBundle(openLog('silent'));
    const statuses: string[] = [];
    const { waiter } = instance.platform.temporal;
    for (const [index, tasks] of fc.sample(random, count).entries()) {
      const document = { dsl: '1.0.0', namespace: 'test', name: `r-${index}`, version: '1.0.0' };
      const definition = { document, do: tasks };
      const published = await tenant.post('/v1/workflows', { definition });
      expect(published.status, JSON.stringify(definition)).to.equal(201);
      const { body } = await tenant
        .post(`/v1/workflows/r-${index}/execute`, { data: { n: 2, list: [1, 2, 3] } })
        .expect(200);
      statuses.push(body.status);
      const place = await workflowIdOf(tenant, body.executionId);
      await waiter.workflow
        .getHandle(place)
        .result()
        .catch(() => undefined);
      for (const history of await historiesOf(waiter, place)) {
        await Worker.runReplayHistory({ workflowBundle }, history, place).catch(
          (error: unknown) => {
            throw new Error(JSON.stringify(definition), { cause: error });
          },
        );
      }
    }
    expect(statuses).to.include.members(['completed', 'failed']);
  });
});
