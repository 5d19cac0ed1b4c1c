import {
  CancellationScope,
  ContinueAsNew,
  isCancellation,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { FlowEnd } from '../../activities/flows/execution.js';
import { isFlowRun, type FlowFailure, type FlowRun } from '../../messages/flow-run.js';
import { failureOf } from './failure.js';
import { isEndRecorded } from './flow-step.js';
import { mayPass, persist } from './repeat-while-away.js';
import { shortSteps } from './step-timeouts.js';

const record = (end: FlowEnd): Promise<void> =>
  CancellationScope.nonCancellable(() =>
    persist(() => shortSteps.endExecution(end), { isWorthIt: mayPass }),
  );

/** The fields of this workflow's log lines; every workflow has modules of its own. */
let subject: Readonly<Record<string, unknown>> = {};

const subjectOf = ({ tenantId, executionId, requestId }: FlowRun, failure?: FlowFailure) => ({
  tenantId,
  executionId,
  requestId,
  ...(failure === undefined ? {} : { failure: { kind: failure.kind, message: failure.message } }),
});

/** How a flow ended that has failed: out of its time, or for another reason. */
const endOf = (run: FlowRun, failure: FlowFailure): FlowEnd => ({
  run,
  failure,
  status: failure.kind === 'timeout' ? 'timed_out' : 'failed',
});

/**
 * Writes the history of every flow to the database: what its last step did not record, and every
 * failure. Workflows that rate usage have executions of their own making.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        const [run] = input.args;
        if (!isFlowRun(run)) return next(input);
        subject = subjectOf(run);
        try {
          const output = await next(input);
          if (!isEndRecorded()) await record({ run, status: 'completed', output });
          return output;
        } catch (error) {
          // The execution goes on in another run.
          if (error instanceof ContinueAsNew) throw error;
          if (isCancellation(error)) await record({ run, status: 'canceled' });
          else {
            const failure = failureOf(error);
            subject = subjectOf(run, failure);
            await record(endOf(run, failure));
          }
          throw error;
        }
      },
    },
  ],
  outbound: [
    {
      getLogAttributes: (attributes, next) => next({ ...attributes, ...subject }),
    },
  ],
});
