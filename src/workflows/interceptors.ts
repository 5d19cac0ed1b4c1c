import {
  CancellationScope,
  ContinueAsNew,
  isCancellation,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { FlowEnd } from '../activities/execution.js';
import { isFlowRun } from '../kernel/flow-run.js';
import { failureOf } from './failure.js';
import { isEndRecorded } from './flow.js';
import { mayPass, persist } from './persistence.js';
import { shortSteps } from './proxies.js';

const record = (end: FlowEnd): Promise<void> =>
  CancellationScope.nonCancellable(() =>
    persist(() => shortSteps.endExecution(end), { isWorthIt: mayPass }),
  );

/**
 * Writes the history of every flow to the database: what its last step did not record, and every
 * failure (DESIGN.md, section 3). Workflows that rate usage have executions of their own making.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        const [run] = input.args;
        if (!isFlowRun(run)) return next(input);
        try {
          const output = await next(input);
          if (!isEndRecorded()) await record({ run, status: 'completed', output });
          return output;
        } catch (error) {
          // The execution goes on in another run.
          if (error instanceof ContinueAsNew) throw error;
          if (isCancellation(error)) await record({ run, status: 'canceled' });
          else await record({ run, status: 'failed', failure: failureOf(error) });
          throw error;
        }
      },
    },
  ],
});
