import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import {
  spanIdOfRun,
  traceHeader,
  traceSubject,
  type EndedRun,
  type TraceSubject,
} from '../../messages/trace.js';
import type { SpanAttributes, Tracing } from '../tracing.js';

const subjectAttributes = ({ tenantId, executionId }: TraceSubject): SpanAttributes => ({
  'durabill.tenant_id': tenantId,
  'durabill.execution_id': executionId,
});

/** Passes the trace on to workflows that are started. */
export function traceStarts(tracing: Tracing): WorkflowClientInterceptor {
  return {
    startWithDetails: (input, next) =>
      tracing.inSpan(
        {
          name: `start ${input.workflowType}`,
          kind: 'producer',
          attributes: {
            ...subjectAttributes(traceSubject(input.options.args)),
            'temporal.workflow.id': input.options.workflowId,
          },
        },
        async () => {
          const traceparent = defaultPayloadConverter.toPayload(tracing.current());
          return next({ ...input, headers: { ...input.headers, [traceHeader]: traceparent } });
        },
      ),
  };
}

/** Traces activities below the runs that schedule them; those of an untraced run share a trace. */
export const traceActivities =
  (tracing: Tracing): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute(input, next) {
        const payload = input.headers[traceHeader];
        const { workflowExecution: { workflowId, runId } = { workflowId: '', runId: '' } } = info;
        const start = {
          name: info.activityType,
          attributes: {
            ...subjectAttributes(traceSubject(input.args)),
            'temporal.workflow.id': workflowId,
            'temporal.run.id': runId,
            'temporal.activity.attempt': info.attempt,
          },
        };
        const place =
          payload === undefined
            ? { traceId: runId.replaceAll('-', '') }
            : { parent: defaultPayloadConverter.fromPayload<string>(payload) };
        return tracing.inSpan({ ...start, ...place }, () => next(input));
      },
    },
  });

interface TraceSinks extends Sinks {
  readonly tracing: { ended(run: EndedRun): void };
}

/**
 * Spans of workflow runs, recorded at their end. A worker without tracing may get workflows started
 * by a process with it.
 */
export const traceSinks = (tracing: Tracing | undefined): InjectedSinks<TraceSinks> => ({
  tracing: {
    ended: {
      fn({ workflowType, workflowId, runId, startTime }, { parent, subject, failure }) {
        tracing?.record({
          name: workflowType,
          parent,
          failure,
          spanId: spanIdOfRun(runId),
          startedAt: startTime,
          attributes: {
            ...subjectAttributes(subject),
            'temporal.workflow.id': workflowId,
            'temporal.run.id': runId,
          },
        });
      },
    },
  },
});
