import { expect } from 'chai';
import { definitionQueue } from '../../src/messages/definitions/definition-run.js';
import type { FlowRun } from '../../src/messages/flow-run.js';
import { until } from '../start/workbench.js';
import type { TestTenant } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** Executions of one tenant: twenty times as many as one process carries out side by side. */
const loudCount = 240;
const startsAtOnce = 20;
/** `WORKFLOW` in the API of Temporal. */
const workflowTasks = 1;

describe("tenants' workflows: whose turn it is", () => {
  /** The tenants of the executions that have begun, in that order. */
  const begun = new Map<string, string>();
  const tenants = (): string[] => [...begun.values()];
  let letThemBegin = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    letThemBegin = resolve;
  });

  // Before the instance closes, which waits for what has begun, also where a test has failed.
  after('let them begin', () => letThemBegin());

  /** Notes who begins, and holds him before his first step, so that the others wait for a worker. */
  const instance = useInstance({
    withWorkers: true,
    activityInterceptors: [
      ({ info }) => ({
        inbound: {
          async execute(input, next): Promise<unknown> {
            if (info.activityType === 'beginDefinition') {
              const [{ run }] = input.args as [{ run: FlowRun }];
              begun.set(run.executionId, run.tenantId);
              await gate;
            }
            return next(input);
          },
        },
      }),
    ],
  });
  const loud = useTenant(instance);
  const quiet = useTenant(instance);

  /** Whether all that has been started has begun, or waits in Temporal for a worker. */
  const haveArrived = async (count: number): Promise<boolean> => {
    const { namespace, taskQueue, starter } = instance.platform.temporal;
    const { stats } = await starter.connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: definitionQueue(taskQueue) },
      taskQueueType: workflowTasks,
      reportStats: true,
    });
    return begun.size + Number(stats?.approximateBacklogCount) >= count;
  };

  // spec/beyond.md R391
  it('goes from tenant to tenant, however many executions of one of them wait', async () => {
    const definition = {
      document: { dsl: '1.0.0', namespace: 'test', name: 'short', version: '1.0.0' },
      do: [{ a: { set: { n: 1 } } }],
    };
    for (const tenant of [loud, quiet]) {
      await tenant.post('/v1/workflows', { definition }).expect(201);
    }
    const start = (tenant: TestTenant) =>
      tenant.post('/v1/workflows/short/execute', { data: {}, async: true }).expect(200);
    // Few at once: an answer is waited for some seconds only, and a slow machine has all of them at once in more.
    for (let sent = 0; sent < loudCount; sent += startsAtOnce) {
      await Promise.all(Array.from({ length: startsAtOnce }, () => start(loud)));
    }
    await start(quiet);
    await until(() => haveArrived(loudCount + 1), 60_000, 'that all of them wait');
    // Without turns the other one begins among the last third (seen with one key for all), with turns
    // soon after those that are held. The count above is an approximate one: it may arrive late.
    const early = loudCount / 2;
    expect(begun.size).to.be.lessThan(early / 2);

    letThemBegin();
    const isKnown = (): boolean => tenants().includes(quiet.id) || begun.size > early;
    await until(isKnown, 120_000, 'that half of them begin, or the other one');
    expect(tenants().slice(0, early)).to.include(quiet.id);
  }).timeout(300_000);
});
