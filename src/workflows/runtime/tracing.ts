import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  ContinueAsNew,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import {
  traceHeader,
  traceparentOfRun,
  traceSubject,
  type EndedRun,
} from '../../messages/trace.js';

/** What the sandbox reports to its worker. */
interface TraceSinks extends Sinks {
  readonly tracing: { ended(run: EndedRun): void };
}

const { tracing } = proxySinks<TraceSinks>();

/** The `traceparent` that this run was started with; undefined where nobody traces. */
let parent: string | undefined;

const withTrace = <Input extends { readonly headers: Headers }>(
  input: Input,
  traceparent: string | undefined,
): Input =>
  traceparent === undefined
    ? input
    : {
        ...input,
        headers: {
          ...input.headers,
          [traceHeader]: defaultPayloadConverter.toPayload(traceparent),
        },
      };

/** Below the span of this run. */
const below = <Input extends { readonly headers: Headers }>(input: Input): Input =>
  withTrace(input, parent && traceparentOfRun(parent, workflowInfo().runId));

const failureOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');

/** Tells of the end of a run. */
async function traced<Output>(run: EndedRun, ended: Promise<Output>): Promise<Output> {
  try {
    const output = await ended;
    tracing.ended(run);
    return output;
  } catch (error) {
    const isOver = !(error instanceof ContinueAsNew);
    tracing.ended(isOver ? { ...run, failure: failureOf(error) } : run);
    throw error;
  }
}

/**
 * Hands the trace that a workflow was started in on to what it starts, and reports when it has ended
 * (docs/decisions/0154). Headers are no part of what a replay compares: histories of runs that were
 * traced and of those that were not replay alike.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute(input, next) {
        const payload = input.headers[traceHeader];
        if (payload === undefined) return next(input);
        const traceparent = defaultPayloadConverter.fromPayload<string>(payload);
        parent = traceparent;
        return traced({ parent: traceparent, subject: traceSubject(input.args) }, next(input));
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => next(below(input)),
      scheduleLocalActivity: (input, next) => next(below(input)),
      startChildWorkflowExecution: (input, next) => next(below(input)),
      // The next run stands beside this one, not below it: there may be hundreds.
      continueAsNew: (input, next) => next(withTrace(input, parent)),
    },
  ],
});
