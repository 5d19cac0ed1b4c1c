import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type WorkflowHandleWithStartDetails,
} from '@temporalio/client';
import {
  CancelledFailure,
  type Duration,
  TerminatedFailure,
  TypedSearchAttributes,
} from '@temporalio/common';
import { defined } from '../../kernel/defined.js';
import { contentId } from '../../kernel/id.js';
import { Portions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import { signatureMemo } from '../../messages/workflow-signature.js';
import { definitionKeys, searchKeys } from './search-attributes.js';
import { isWaitOver, temporalProblem, type Temporal } from './temporal.js';

/** What a workflow is indexed by. */
interface Subject {
  readonly tenantId: string;
  readonly entityType: string;
  readonly entityId: string;
  readonly actor: string;
}

export interface WorkflowStart {
  /** The name of the workflow function. */
  readonly type: string;
  /** The workflow id: starts with the same id join or exclude each other. */
  readonly workflowId: string;
  readonly input: object;
  readonly subject: Subject;
  /** The tenant's definition that it carries out. */
  readonly definition?: { readonly name: string; readonly version: number };
  /** One line for people who read the Temporal UI. */
  readonly summary: string;
  /**
   * Whether a start is refused (`isAlreadyRunning` returns true) instead of joined while a workflow
   * with this id runs, since that is another request.
   */
  readonly isExclusive?: boolean;
  /**
   * Whether the id is used once, even after the workflow has ended: later starts get its result.
   */
  readonly isOnce?: boolean;
  /** Id of the database's execution of this workflow; see `watchExecutions`. */
  readonly executionId?: string;
  /** Where its workers are; that of the product, when it is left out. */
  readonly taskQueue?: string;
  /** When Temporal gives up, e.g. `10 minutes`; never, when it is left out. */
  readonly executionTimeout?: Duration;
}

export const isAlreadyRunning = (error: unknown): boolean =>
  error instanceof WorkflowExecutionAlreadyStartedError;

/** What a workflow is found by in Temporal. */
function searchAttributesOf(
  { findsDefinitions }: Temporal,
  { type, subject, definition }: WorkflowStart,
): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: searchKeys.tenant, value: subject.tenantId },
    { key: searchKeys.flow, value: type },
    { key: searchKeys.entityType, value: subject.entityType },
    { key: searchKeys.entityId, value: subject.entityId },
    { key: searchKeys.actor, value: subject.actor },
    ...(definition && findsDefinitions
      ? [
          { key: definitionKeys.definition, value: definition.name },
          { key: definitionKeys.version, value: definition.version },
        ]
      : []),
  ]);
}

/**
 * Timeout of a workflow task: after this time the workflows of a killed worker go on elsewhere.
 * Longer local activities send heartbeats.
 */
const workflowTaskTimeout = '5 s';

/** Starts a workflow, eagerly where a worker of this process can take it; joins one that runs. */
export async function startWorkflow(
  temporal: Temporal,
  start: WorkflowStart,
): Promise<WorkflowHandleWithStartDetails> {
  const { type, workflowId, input, subject, summary } = start;
  const { isExclusive, isOnce, executionTimeout, executionId } = start;
  const portions = new Portions();
  const signature = await temporal.signer.sign(start);
  // What is sent is written at once.
  if (portions.isOver) await portions.rest();
  const handle = await temporal.starter.workflow.start(type, {
    workflowId,
    workflowTaskTimeout,
    args: [input],
    taskQueue: start.taskQueue ?? temporal.taskQueue,
    requestEagerStart: true,
    workflowIdConflictPolicy:
      isExclusive === true ? WorkflowIdConflictPolicy.FAIL : WorkflowIdConflictPolicy.USE_EXISTING,
    ...defined({ workflowExecutionTimeout: executionTimeout }),
    // Only the database can tell that the work was done: Temporal may have a closed workflow of
    // another request.
    workflowIdReusePolicy:
      isOnce === true
        ? WorkflowIdReusePolicy.REJECT_DUPLICATE
        : WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    memo: { ...defined({ executionId }), [signatureMemo]: signature },
    // Of tasks that wait, those of each tenant come in turn.
    priority: { fairnessKey: contentId(subject.tenantId) },
    staticSummary: summary,
    typedSearchAttributes: searchAttributesOf(temporal, start),
  });
  temporal.onStarted(type, handle.eagerlyStarted);
  return handle;
}

/** The first run of a workflow, by which it is known where another has continued it. */
export async function firstRunOf(
  { waiter }: Temporal,
  workflowId: string,
  runId?: string,
): Promise<string> {
  const found = await waiter.workflow.getHandle(workflowId, runId).describe();
  const first = found.raw.workflowExecutionInfo?.firstRunId ?? '';
  return first === '' ? found.runId : first;
}

/** Starts a workflow, or finds the one with its id; returns the run id. */
async function startOrFind(temporal: Temporal, start: WorkflowStart): Promise<string> {
  try {
    return (await startWorkflow(temporal, start)).firstExecutionRunId;
  } catch (error) {
    if (start.isOnce !== true || !isAlreadyRunning(error)) throw error;
    return (await temporal.waiter.workflow.getHandle(start.workflowId).describe()).runId;
  }
}

/** 409 of what somebody has ended; any other failure is ours. */
const endedEarly = (error: WorkflowFailedError, executionId: string | undefined): Error =>
  error.cause instanceof CancelledFailure || error.cause instanceof TerminatedFailure
    ? problem.conflict('The work was ended before it was done.', defined({ executionId }))
    : error;

/**
 * Starts a workflow and waits for its result. 504 with the execution's id when that takes longer than
 * `waitMs`: the workflow goes on.
 */
export async function runWorkflow<Result>(
  temporal: Temporal,
  start: WorkflowStart,
  waitMs: number,
): Promise<Result> {
  let runId: string | undefined;
  /** What was joined may go on from another run. */
  const executionId = async (): Promise<string | undefined> =>
    runId && firstRunOf(temporal, start.workflowId, runId).catch(() => runId);
  try {
    runId = await startOrFind(temporal, start);
    const { waiter } = temporal;
    return await waiter.withDeadline(Date.now() + waitMs, async () => {
      const result: unknown = await waiter.workflow.getHandle(start.workflowId).result();
      return result as Result;
    });
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw endedEarly(error, await executionId());
    if (runId !== undefined && isWaitOver(error)) {
      throw problem.timeout('The work is not finished yet; it goes on in the background.', {
        executionId: await executionId(),
      });
    }
    throw temporalProblem(error);
  }
}
