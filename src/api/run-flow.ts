import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isGrpcDeadlineError, WorkflowFailedError } from '@temporalio/client';
import { claimIdempotencyKey } from '../commands/claim-idempotency-key.js';
import type { FlowFailure, FlowOutcome, FlowRun } from '../kernel/flow-run.js';
import { newId } from '../kernel/id.js';
import { canonicalJson, jsonSafe } from '../kernel/json.js';
import { Problem, problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../platform/platform.js';
import { isAlreadyRunning, startWorkflow } from '../platform/workflow-start.js';
import { findFlowOutcome } from '../queries/execution.js';
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

/** A flow to run, and what it is about. */
export interface FlowStart<K extends FlowName> {
  readonly workflow: K;
  /** What two that want the same meet at, after the tenant: `payment/<reference>`. */
  readonly businessKey: string;
  readonly input: InputOf<K>;
  readonly entityType: string;
  readonly entityId: string;
  /** One line for people who read the Temporal UI. */
  readonly summary: string;
  /** The caller's key for this request, if it gave one. */
  readonly idempotencyKey: string | null;
}

/** How long Temporal keeps a flow going whose database is away. */
const executionTimeout = '10 minutes';
/** How long the workers of this process are given to tell of the end, before Temporal is asked. */
const tellMs = 250;

/** Temporal takes ids of 1,000 bytes; a long key keeps its beginning and is told apart by its hash. */
function workflowIdOf(tenantId: string, businessKey: string): string {
  const id = `${tenantId}/${businessKey}`;
  if (Buffer.byteLength(id) <= 500) return id;
  return `${id.slice(0, 100)}~${createHash('sha256').update(id).digest('hex')}`;
}

/** Where a flow is to be found. */
interface Execution {
  readonly executionId: string;
  readonly workflowId: string;
}

/**
 * The execution of a request: under an idempotency key that of the first request with it. 409: the
 * key was used for another request.
 */
async function executionOf<K extends FlowName>(
  scope: Scope,
  flow: FlowStart<K>,
): Promise<Execution & { readonly isRepeated: boolean }> {
  const workflowId = workflowIdOf(scope.tenantId, flow.businessKey);
  const executionId = newId();
  const { idempotencyKey: key, workflow, input } = flow;
  if (key === null) return { executionId, workflowId, isRepeated: false };
  const requestHash = createHash('sha256')
    .update(canonicalJson({ workflow, input: jsonSafe(input) }))
    .digest('hex');
  const holder = await claimIdempotencyKey(scope, { key, requestHash, executionId, workflowId });
  const isRepeated = holder.executionId !== executionId;
  return { executionId: holder.executionId, workflowId: holder.workflowId, isRepeated };
}

async function startFlow<K extends FlowName>(
  scope: Scope,
  { temporal }: Platform,
  flow: FlowStart<K>,
  { executionId, workflowId }: Execution,
): Promise<void> {
  const { tenantId, orgId, actor, requestId } = scope;
  const { workflow, entityType, entityId, summary, input } = flow;
  const run: FlowRun = { executionId, tenantId, orgId, actor, requestId, input };
  await startWorkflow(temporal, {
    ...{ type: workflow, workflowId, summary, executionTimeout, isExclusive: true },
    input: jsonSafe(run) as object,
    subject: { tenantId, entityType, entityId, actor },
  });
}

/** Waits for the end by asking Temporal; then the database says how it ended. */
async function askForOutcome(
  scope: Scope,
  { temporal: { waiter } }: Platform,
  { executionId, workflowId }: Execution,
  deadline: number,
): Promise<FlowOutcome> {
  try {
    await waiter.withDeadline(deadline, () => waiter.workflow.getHandle(workflowId).result());
  } catch (error) {
    if (isGrpcDeadlineError(error)) {
      throw problem.timeout('The work is not finished yet; it goes on in the background.', {
        flowExecutionId: executionId,
      });
    }
    if (!(error instanceof WorkflowFailedError)) throw unavailable();
  }
  const outcome = await findFlowOutcome(scope, executionId);
  if (outcome) return outcome;
  throw problem.conflict('The work was ended before it was done.', {
    flowExecutionId: executionId,
  });
}

const unavailable = () =>
  problem.unavailable('The workflow service does not answer at the moment; try again.');

async function waitForOutcome(
  scope: Scope,
  platform: Platform,
  execution: Execution,
  told: Promise<FlowOutcome>,
): Promise<FlowOutcome> {
  const deadline = Date.now() + platform.config.flowTimeoutMs;
  const outcome =
    platform.health.areWorkersRunning === true
      ? await Promise.race([told, wait(tellMs, undefined, { ref: false })])
      : undefined;
  return outcome ?? Promise.race([told, askForOutcome(scope, platform, execution, deadline)]);
}

const problemOf = ({ kind, message, details }: FlowFailure, flowExecutionId: string): Problem =>
  new Problem(kind, message, { ...details, flowExecutionId });

/** How a flow that was run ended well. */
export interface FlowResult<Output> {
  readonly executionId: string;
  readonly output: Output;
}

/**
 * Runs a flow as a workflow and answers with its output. The problem of a flow that fails is thrown
 * with `flowExecutionId` in its details. 409: the same is being done at this moment. 503: Temporal is
 * away. 504: it takes longer than FLOW_TIMEOUT_MS, and goes on.
 */
export async function runFlow<K extends FlowName>(
  scope: Scope,
  platform: Platform,
  flow: FlowStart<K>,
): Promise<FlowResult<OutputOf<K>>> {
  const { isRepeated, ...execution } = await executionOf(scope, flow);
  const { executionId } = execution;
  const known = isRepeated ? await findFlowOutcome(scope, executionId) : undefined;
  const reply = platform.flowReplies.wait(executionId);
  try {
    if (!known) {
      await startFlow(scope, platform, flow, execution).catch((error: unknown) => {
        if (!isAlreadyRunning(error)) throw unavailable();
        if (!isRepeated) throw problem.conflict('The same is being done at this moment.');
      });
    }
    const outcome = known ?? (await waitForOutcome(scope, platform, execution, reply.outcome));
    if (!outcome.ok) throw problemOf(outcome.failure, executionId);
    return { executionId, output: outcome.output as OutputOf<K> };
  } finally {
    reply.stop();
  }
}
