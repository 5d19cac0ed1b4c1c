import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { recordStart } from '../commands/flows/record-start.js';
import { claimIdempotencyKey } from '../commands/flows/idempotent-start.js';
import type { FlowFailure, FlowOutcome, FlowRun } from '../messages/flow-run.js';
import { definitionQueue } from '../messages/definitions/definition-run.js';
import { newId } from '../kernel/id.js';
import { canonicalDigest, jsonSafeInPortions } from '../kernel/text/json-write-portions.js';
import { Problem, problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { FlowReply } from '../platform/temporal/flow-replies.js';
import type { Platform } from '../process/platform.js';
import { isWaitOver, temporalProblem } from '../platform/temporal/temporal.js';
import { isAlreadyRunning, startWorkflow } from '../platform/temporal/workflow-start.js';
import { findFlowOutcome, hasEnded } from '../queries/flows/execution.js';
import type * as workflows from '../workflows/index.js';

type Workflows = typeof workflows;

/** The workflows that are flows, by their types. */
export type FlowName = {
  [K in keyof Workflows]: Workflows[K] extends (run: FlowRun<never>) => Promise<unknown>
    ? Parameters<Workflows[K]>[0] extends FlowRun
      ? K
      : never
    : never;
}[keyof Workflows];

type InputOf<K extends FlowName> = Parameters<Workflows[K]>[0]['input'];
type OutputOf<K extends FlowName> = Awaited<ReturnType<Workflows[K]>>;

/** A flow to start, with its input and its business key. */
export interface FlowStart<K extends FlowName = FlowName> {
  readonly workflow: K;
  /**
   * The workflow id, after the tenant: `payment/<reference>`. Requests with the same id exclude
   * each other.
   */
  readonly businessKey: (executionId: string) => string;
  readonly input: InputOf<K>;
  readonly entityType: string;
  readonly entityId: string;
  /** One line for people who read the Temporal UI. */
  readonly summary: string;
  /** The caller's key for this request, if it gave one. */
  readonly idempotencyKey: string | null;
  /** Whether it has no time limit. */
  readonly isLong?: boolean;
  /** The tenant's definition that it carries out: those run on a task queue apart. */
  readonly definition?: { readonly name: string; readonly version: number };
}

/**
 * Timeout after which Temporal ends a flow without running its compensation. A flow ends by itself
 * long before (`workflows/runtime/time-of-flow.ts`); the timeout is for one that no worker can continue
 * (docs/decisions/0192).
 */
const executionTimeoutMs = 24 * 3_600_000;
/**
 * How long to wait for a notification from this process's workers before polling Temporal. A worker
 * that got the flow by an eager start notifies reliably, unless a server is down.
 */
const notifyMs = { eager: 5_000, other: 250 };

/** Temporal limits ids to 1,000 bytes; a longer key is cut, and a hash keeps it unique. */
function workflowIdOf(tenantId: string, businessKey: string): string {
  const id = `${tenantId}/${businessKey}`;
  if (Buffer.byteLength(id) <= 500) return id;
  return `${id.slice(0, 100)}~${createHash('sha256').update(id).digest('hex')}`;
}

/** The ids of an execution and its workflow. */
interface Execution {
  readonly executionId: string;
  readonly workflowId: string;
}

/** An execution, and whether an earlier request with the same idempotency key started it. */
interface KeyedExecution extends Execution {
  readonly isRepeated: boolean;
}

/**
 * The execution of a request: with an idempotency key, that of the first request under the key.
 * 409: the key was used for another request.
 */
async function executionOf<K extends FlowName>(
  scope: Scope,
  flow: FlowStart<K>,
): Promise<KeyedExecution> {
  const executionId = newId();
  const workflowId = workflowIdOf(scope.tenantId, flow.businessKey(executionId));
  const { idempotencyKey: key, workflow, input } = flow;
  if (key === null) return { executionId, workflowId, isRepeated: false };
  const requestHash = await canonicalDigest({ workflow, input: await jsonSafeInPortions(input) });
  const holder = await claimIdempotencyKey(scope, { key, requestHash, executionId, workflowId });
  const isRepeated = holder.executionId !== executionId;
  return { executionId: holder.executionId, workflowId: holder.workflowId, isRepeated };
}

function runOf(scope: Scope, { input }: FlowStart, executionId: string): FlowRun {
  const { tenantId, orgId, actor, requestId, callerRequestId } = scope;
  return { executionId, tenantId, orgId, actor, requestId, callerRequestId, input };
}

/** A flow that was started, and where Temporal runs it. */
interface RunningFlow {
  /** Whether a worker of this process took it by an eager start. */
  readonly isEager: boolean;
  readonly run: FlowRun;
  readonly place: {
    readonly workflow: string;
    readonly workflowId: string;
    readonly runId: string;
  };
}

/** Starts the workflow of a flow. 409: another runs under its id. 503: Temporal is away. */
async function startFlow<K extends FlowName>(
  scope: Scope,
  { temporal, config }: Platform,
  flow: FlowStart<K>,
  { executionId, workflowId }: Execution,
): Promise<RunningFlow> {
  const { tenantId, actor } = scope;
  const { workflow, entityType, entityId, summary, isLong = false, definition } = flow;
  const run = runOf(scope, flow, executionId);
  const safeRun = (await jsonSafeInPortions(run)) as object;
  const deadline = Date.now() + config.flowTimeoutMs;
  for (;;) {
    try {
      const { firstExecutionRunId: runId, eagerlyStarted } = await startWorkflow(temporal, {
        type: workflow,
        workflowId,
        summary,
        isExclusive: true,
        ...(definition ? { definition, taskQueue: definitionQueue(temporal.taskQueue) } : {}),
        ...(isLong ? {} : { executionTimeout: config.flowLifeMs ?? executionTimeoutMs }),
        input: safeRun,
        executionId,
        subject: { tenantId, entityType, entityId, actor },
      });
      return { isEager: eagerlyStarted, run, place: { workflow, workflowId, runId } };
    } catch (error) {
      if (!isAlreadyRunning(error)) throw temporalProblem(error);
      if (Date.now() > deadline || !(await hasEnded(scope, workflowId))) {
        throw problem.conflict('The same is being done at this moment.');
      }
      // Its work is committed and its request answered; Temporal closes it shortly.
      await closed(temporal, workflowId, deadline);
    }
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof Problem && error.kind === 'conflict';

/**
 * Starts the flow of a request, or joins what another request under the same key has started, whether or not
 * that is recorded yet. 409: what runs under its id is another request's.
 */
async function startOrJoin<K extends FlowName>(
  scope: Scope,
  platform: Platform,
  flow: FlowStart<K>,
  execution: Execution,
): Promise<RunningFlow> {
  try {
    return await startFlow(scope, platform, flow, execution);
  } catch (error) {
    if (flow.idempotencyKey === null || !isConflict(error)) throw error;
    const { workflowId, executionId } = execution;
    const { runId, memo } = await describe(platform, workflowId);
    const isOwn = memo?.['executionId'] === executionId;
    if (!isOwn && !(await findFlowOutcome(scope, executionId))) throw error;
    const place = { workflow: flow.workflow, workflowId, runId };
    return { isEager: false, run: runOf(scope, flow, executionId), place };
  }
}

const describe = ({ temporal: { waiter } }: Platform, workflowId: string) =>
  waiter.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      throw temporalProblem(error);
    });

/** Waits until Temporal has closed a workflow, however that ended. */
async function closed(
  { waiter }: Platform['temporal'],
  workflowId: string,
  deadline: number,
): Promise<void> {
  try {
    await waiter.withDeadline(deadline, () => waiter.workflow.getHandle(workflowId).result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError) && !isWaitOver(error)) throw temporalProblem(error);
  }
}

/** Polls Temporal for the end; the outcome is then read from the database. */
async function askForOutcome(
  scope: Scope,
  { temporal: { waiter } }: Platform,
  { executionId, workflowId }: Execution,
  deadline: number,
): Promise<FlowOutcome> {
  try {
    await waiter.withDeadline(deadline, () => waiter.workflow.getHandle(workflowId).result());
  } catch (error) {
    if (isWaitOver(error)) {
      throw problem.timeout('The work is not finished yet; it goes on in the background.', {
        flowExecutionId: executionId,
      });
    }
    if (!(error instanceof WorkflowFailedError)) throw temporalProblem(error);
  }
  const outcome = await findFlowOutcome(scope, executionId);
  if (outcome) return outcome;
  throw problem.conflict('The work was ended before it was done.', {
    flowExecutionId: executionId,
  });
}

async function waitForOutcome(
  scope: Scope,
  platform: Platform,
  execution: Execution,
  { told, isEager }: { readonly told: Promise<FlowOutcome>; readonly isEager: boolean },
): Promise<FlowOutcome> {
  const deadline = Date.now() + platform.config.flowTimeoutMs;
  const outcome =
    platform.health.areWorkersRunning === true
      ? await Promise.race([
          told,
          wait(isEager ? notifyMs.eager : notifyMs.other, undefined, { ref: false }),
        ])
      : undefined;
  return outcome ?? Promise.race([told, askForOutcome(scope, platform, execution, deadline)]);
}

const problemOf = ({ kind, message, details }: FlowFailure, flowExecutionId: string): Problem =>
  new Problem(kind, message, { ...details, flowExecutionId });

/** The result of a flow that succeeded. */
export interface FlowResult<Output> {
  readonly executionId: string;
  readonly output: Output;
}

/**
 * Runs a flow as a workflow and returns its output. The problem of a failed flow is thrown with
 * `flowExecutionId` in its details. 409: a flow with the same workflow id is running. 503: Temporal
 * is unavailable. 504: it takes longer than FLOW_TIMEOUT_MS, and goes on.
 */
export async function runFlow<K extends FlowName>(
  scope: Scope,
  platform: Platform,
  flow: FlowStart<K>,
): Promise<FlowResult<OutputOf<K>>> {
  const since = performance.now();
  const { isRepeated, ...execution } = await executionOf(scope, flow);
  const { executionId } = execution;
  const known = isRepeated ? await findFlowOutcome(scope, executionId) : undefined;
  const reply = platform.flowReplies.wait(executionId);
  try {
    const outcome =
      known ??
      (await measured(platform, flow.workflow, since, () =>
        startAndWait(scope, platform, flow, execution, reply),
      ));
    if (!outcome.ok) throw problemOf(outcome.failure, executionId);
    return { executionId, output: outcome.output as OutputOf<K> };
  } finally {
    reply.stop();
  }
}

/** Counts the outcomes of flows that callers wait for, and measures their duration. */
async function measured(
  { metrics }: Platform,
  flow: string,
  since: number,
  work: () => Promise<FlowOutcome>,
): Promise<FlowOutcome> {
  let outcome = 'internal';
  try {
    const ended = await work();
    outcome = ended.ok ? 'completed' : ended.failure.kind;
    return ended;
  } catch (error) {
    if (error instanceof Problem) outcome = error.kind;
    throw error;
  } finally {
    metrics.flows.inc({ flow, outcome });
    metrics.flowSeconds.observe({ flow }, (performance.now() - since) / 1000);
  }
}

async function startAndWait<K extends FlowName>(
  scope: Scope,
  platform: Platform,
  flow: FlowStart<K>,
  execution: Execution,
  reply: FlowReply,
): Promise<FlowOutcome> {
  const running = await startOrJoin(scope, platform, flow, execution);
  try {
    const told = { told: reply.outcome, isEager: running.isEager };
    return await waitForOutcome(scope, platform, execution, told);
  } catch (error) {
    if (error instanceof Problem && error.kind === 'timeout') {
      await recordStart(scope, running.run, running.place).catch(() => undefined);
    }
    throw error;
  }
}

/** Starts a flow and answers with the id of its execution, which can be read from now on. */
export async function startInBackground<K extends FlowName>(
  scope: Scope,
  platform: Platform,
  flow: FlowStart<K>,
): Promise<string> {
  const { isRepeated, ...execution } = await executionOf(scope, flow);
  if (isRepeated && (await findFlowOutcome(scope, execution.executionId))) {
    return execution.executionId;
  }
  const { run, place } = await startOrJoin(scope, platform, flow, execution);
  await recordStart(scope, run, place);
  return execution.executionId;
}
