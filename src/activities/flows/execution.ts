import type { Knex } from 'knex';
import { recordWorkflowEnd } from '../../commands/flows/workflow-end.js';
import type { ExecutionStatus, FlowFailure, FlowRun } from '../../messages/flow-run.js';
import { inputInWorkflowId, recordedAs } from '../../messages/definitions/definition-run.js';
import { parseStoredJson, stringifyJson } from '../../kernel/text/json.js';
import { Execution, type TemporalRun } from '../../models/flows/execution.js';
import { ExecutionWatchMark } from '../../models/flows/execution-watch.js';
import { WorkflowStarts } from '../../models/workflows/trigger.js';
import { WorkflowUndos } from '../../models/workflows/undo.js';
import type { Platform } from '../../process/platform.js';
import { currentPlace } from './step-once.js';

/** The outcome of a flow whose last step did not record it. */
export interface FlowEnd {
  readonly run: FlowRun;
  readonly status: 'completed' | 'failed' | 'canceled' | 'timed_out';
  readonly output?: unknown;
  readonly failure?: FlowFailure;
}

type Ended = Parameters<typeof Execution.end>[3];

/** Records an outcome if there is none yet, with a webhook event. */
async function recordEnd(
  trx: Knex.Transaction,
  now: () => Date,
  run: FlowRun,
  place: TemporalRun,
  ended: Ended,
): Promise<void> {
  const { tenantId, executionId } = run;
  // One that ends before its first step needs no start any more, either.
  if (recordedAs(place.workflow, run.input) !== place.workflow) {
    await WorkflowStarts.forget(trx, tenantId, executionId);
    await WorkflowUndos.end(trx, tenantId, executionId);
  }
  if (!(await Execution.end(trx, run, place, ended))) return;
  const { status, output } = ended;
  const workflow = recordedAs(place.workflow, run.input);
  await recordWorkflowEnd(trx, { tenantId, now }, { executionId, workflow, status, output });
}

export function executionActivities(platform: Platform) {
  return {
    /** Records the outcome of a flow, and notifies requests of this process that wait for it. */
    async endExecution({ run, status, output, failure }: FlowEnd): Promise<void> {
      const { tenantId, actor, requestId, callerRequestId, executionId } = run;
      const place = currentPlace();
      const error = failure ?? null;
      const now = await platform.clocks.of(tenantId);
      await platform.database
        .forTenant(tenantId, { actor, requestId, callerRequestId })
        .transaction((trx) => recordEnd(trx, now, run, place, { status, output, error }));
      platform.flowReplies.notify(
        executionId,
        failure === undefined
          ? { ok: true, output: parseStoredJson(stringifyJson(output)) }
          : { ok: false, failure },
      );
    },
  };
}

/** An execution that was closed by Temporal itself, or by a user of its UI. */
export interface ClosedExecution {
  readonly tenantId: string;
  readonly executionId: string;
  readonly actor: string;
  readonly place: TemporalRun;
  readonly startedAt: Date;
  readonly status: ExecutionStatus;
}

/** Records an outcome that no step of the flow could record; an existing one is kept. */
export async function recordClosedExecution(
  platform: Platform,
  { tenantId, executionId, actor, place, status }: ClosedExecution,
): Promise<void> {
  const requestId = place.workflowId;
  const input = inputInWorkflowId(place.workflowId);
  const run: FlowRun = { executionId, tenantId, orgId: null, actor, requestId, input };
  const end = { status, output: undefined, error: null };
  const now = await platform.clocks.of(tenantId);
  await platform.database
    .forTenant(tenantId, { actor, requestId })
    .transaction((trx) => recordEnd(trx, now, run, place, end));
}

/** The same of a retry of usage, which keeps what it has counted and tells no webhook. */
export async function recordClosedRetry(
  { database }: Platform,
  { tenantId, executionId, actor, place, startedAt, status }: ClosedExecution,
): Promise<void> {
  const run = { ...place, runId: executionId, actor, input: null, startedAt };
  await database
    .forTenant(tenantId, { actor, requestId: place.workflowId })
    .transaction((trx) =>
      Execution.endCounted(trx, tenantId, { ...run, status, failure: undefined }),
    );
}

/** The watermark up to which unrecorded outcomes were looked for; undefined: never. */
export const findWatchedUntil = ({ database, temporal }: Platform): Promise<Date | undefined> =>
  ExecutionWatchMark.read(database.platform, temporal.taskQueue);

/** Stores that watermark. */
export const keepWatchedUntil = ({ database, temporal }: Platform, until: Date): Promise<void> =>
  ExecutionWatchMark.move(database.platform, temporal.taskQueue, until);
