import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import type { Problem } from '../../src/kernel/problem.js';
import type { Temporal } from '../../src/platform/temporal/temporal.js';
import { runWorkflow, startWorkflow } from '../../src/platform/temporal/workflow-start.js';
import { useInstance } from '../support/servers/use-instance.js';

const type = 'retryUsage';
/** CONTINUE_AS_NEW_WORKFLOW_EXECUTION of the API of Temporal. */
const continueAsNew = 10;

// spec/beyond.md R520
describe('a start that joins a workflow which goes on in another run', () => {
  const instance = useInstance();

  /** A workflow in its second run, and how it is started; no worker has it. */
  const continued = async (temporal: Temporal) => {
    const taskQueue = newId();
    const start = {
      type,
      workflowId: `acme/usage-retry/${taskQueue}`,
      input: { tenantId: 'acme', actor: 'test', filter: {} },
      subject: { tenantId: 'acme', entityType: 'usage', entityId: 'all', actor: 'test' },
      summary: 'a test',
      taskQueue,
    };
    const { firstExecutionRunId: first } = await startWorkflow(temporal, start);
    const { waiter, namespace } = temporal;
    const service = waiter.workflowService;
    const queue = { name: taskQueue };
    const { taskToken } = await waiter.withDeadline(Date.now() + 20_000, () =>
      service.pollWorkflowTaskQueue({ namespace, taskQueue: queue }),
    );
    await service.respondWorkflowTaskCompleted({
      namespace,
      taskToken,
      commands: [
        {
          commandType: continueAsNew,
          continueAsNewWorkflowExecutionCommandAttributes: {
            workflowType: { name: type },
            taskQueue: queue,
          },
        },
      ],
    });
    const handle = waiter.workflow.getHandle(start.workflowId);
    const { runId } = await handle.describe();
    expect(runId).to.not.equal(first);
    return { start, first, handle };
  };

  const problemOf = (work: Promise<unknown>): Promise<Problem> =>
    work.then(
      () => expect.fail('It was done.'),
      (error: unknown) => error as Problem,
    );

  it('says the first run where somebody ends it', async () => {
    const { temporal } = instance.platform;
    const { start, first, handle } = await continued(temporal);
    let work: Promise<Problem> | undefined;
    await new Promise<void>((resolve) => {
      const joining = { ...temporal, onStarted: () => resolve() };
      work = problemOf(runWorkflow(joining, start, 20_000));
    });
    await handle.terminate();
    expect(await work).to.deep.include({ kind: 'conflict', details: { executionId: first } });
  });

  it('says it, too, where the wait is over', async () => {
    const { temporal } = instance.platform;
    const { start, first, handle } = await continued(temporal);
    const problem = await problemOf(runWorkflow(temporal, start, 100));
    expect(problem).to.deep.include({ kind: 'timeout', details: { executionId: first } });
    await handle.terminate();
  });
});
