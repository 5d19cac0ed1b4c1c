import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { WorkflowFailedError, type WorkflowStartOptions } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { awayFailureType, type FlowRun } from '../../src/messages/flow-run.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';

describe('a flow that takes back what it did', function () {
  // Bundling the workflows of the test takes seconds.
  this.timeout(60_000);
  let instance: TestInstance;
  let worker: Worker;
  let running: Promise<void>;
  /** What was done, in its order, and what fails. */
  let done: string[];
  let failing: ReadonlySet<string>;
  /** Whether it fails because its database is away. */
  let isAway = false;
  before(async () => {
    instance = await openTestInstance();
    const { native, namespace } = instance.platform.temporal;
    worker = await Worker.create({
      connection: native,
      namespace,
      taskQueue: `saga-${instance.platform.temporal.taskQueue}`,
      workflowsPath: fileURLToPath(new URL('saga-workflows.ts', import.meta.url)),
      activities: {
        act(name: string): Promise<void> {
          done.push(name);
          if (!failing.has(name)) return Promise.resolve();
          return Promise.reject(
            isAway
              ? ApplicationFailure.retryable('No database.', awayFailureType)
              : ApplicationFailure.nonRetryable(`No ${name}.`),
          );
        },
      },
    });
    running = worker.run();
  });
  after(async () => {
    worker.shutdown();
    await running;
    await instance.close();
  });
  beforeEach(() => {
    done = [];
    isAway = false;
  });

  const execute = async (
    workflow: string,
    names: readonly string[],
    options: Partial<WorkflowStartOptions> = {},
  ): Promise<ApplicationFailure> => {
    failing = new Set(names);
    const { waiter, taskQueue } = instance.platform.temporal;
    const workflowId = `saga/${workflow}/${names.join('/')}`;
    const error: unknown = await waiter.workflow
      .execute(workflow, { ...options, workflowId, taskQueue: `saga-${taskQueue}` })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(WorkflowFailedError);
    return (error as WorkflowFailedError).cause as ApplicationFailure;
  };
  const run = (...names: string[]) => execute('threeSteps', names);
  const told = ({ details }: ApplicationFailure): unknown => details?.[0];

  // spec/flows.md R32
  it('takes back every step, the newest first', async () => {
    expect(told(await run())).to.deep.equal({
      kind: 'conflict',
      message: 'The first cause.',
      details: { field: 'x', undone: ['c', 'b', 'a'] },
    });
    expect(done).to.deep.equal(['a', 'b', 'c', 'undo c', 'undo b', 'undo a']);
  });

  // spec/flows.md R32
  it('goes on with the others when one cannot be taken back, and keeps the first cause', async () => {
    const message = 'Something went wrong on our side.';
    expect(told(await run('undo c', 'undo a'))).to.deep.equal({
      kind: 'conflict',
      message: 'The first cause.',
      details: {
        field: 'x',
        undone: ['b'],
        notUndone: [
          { step: 'c', message },
          { step: 'a', message },
        ],
      },
    });
    expect(done).to.deep.equal(['a', 'b', 'c', 'undo c', 'undo b', 'undo a']);
  });

  it('takes back what it did when its time is over before its database is back', async () => {
    isAway = true;
    const flowRun: FlowRun = {
      executionId: 'e',
      tenantId: 't',
      orgId: null,
      actor: 'a',
      requestId: 'r',
      input: {},
    };
    // Nine tenths of it are for going on, the rest for taking back.
    const times = { args: [flowRun], workflowExecutionTimeout: 4_000 };
    expect(told(await execute('twoSteps', ['b'], times))).to.deep.equal({
      kind: 'timeout',
      message: 'The work was given up, since what it needs did not answer in time.',
      details: { undone: ['b', 'a'] },
    });
    expect(done.slice(0, 2)).to.deep.equal(['a', 'b']);
    expect(done.slice(-2)).to.deep.equal(['undo b', 'undo a']);
  });
});
