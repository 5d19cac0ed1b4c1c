import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { keepDefinition } from '../../commands/workflows/definition.js';
import { Problem, problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import { definitionLimits, type Definition } from '../../messages/definitions/definition.js';
import {
  putValueOf,
  type CallOperation,
  type KeptTask,
  type TaskCall,
} from '../../messages/definitions/task.js';
import { awayFailureType, unkeptFailureType } from '../../messages/flow-run.js';
import { WorkflowTask } from '../../models/workflows/task.js';
import { WorkflowStarts } from '../../models/workflows/trigger.js';
import { WorkflowUndos } from '../../models/workflows/undo.js';
import type { Platform } from '../../process/platform.js';
import { definitionIn, readVersion } from '../../queries/workflows/definition.js';
import { activityFailure } from '../failure.js';
import { beating } from '../heartbeat.js';
import { flowStep, outerScope, type StepCall } from '../flows/flow-step.js';
import { callServer } from './http-call.js';
import { operationOf } from './operation-of.js';
import { findPublisher } from './publisher.js';
import { hideInRecords, withHidden } from './put-secret.js';

/** What an execution needs of its definition; it is read once, and stands in its history. */
export interface BegunDefinition {
  readonly definition: Definition;
  readonly name: string;
  readonly version: number;
  /**
   * Which rules it keeps to, since they stand in its history. 1: expressions count what functions take apart,
   * and no row of another branch is lost before a secret is put; 2: what takes tasks back is kept in blocks,
   * and nobody cancels an end that is being recorded; 3: a number that no double holds is one where a schema asks
   * for a number, too; left out: it began before that.
   */
  readonly edition?: number;
  /** The time of a sandbox, in milliseconds; left out: the tenant is none. */
  readonly standsAt?: number;
}

/** Rows to keep; `hidden`: what secrets have become while these tasks were done. */
interface KeepCall extends StepCall<readonly KeptTask[]> {
  readonly hidden?: readonly string[];
}

/** Calls of one tenant that this process makes side by side. */
const callsPerTenant = 8;

/** Problems that pass: the call is made again under its key. */
const passing = new Set(['timeout', 'unavailable', 'overloaded', 'rateLimited', 'badGateway']);

function failureOfCall(error: unknown): unknown {
  if (error instanceof Problem && passing.has(error.kind)) {
    return ApplicationFailure.retryable(error.message, awayFailureType);
  }
  return activityFailure(error);
}

/** What was answered, for a workflow that has rows to keep yet. */
const unkept = (output: unknown, cause: unknown): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'The call was made; what was done before it is not in the timeline yet.',
    type: unkeptFailureType,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
    details: [output],
    ...(cause instanceof Error ? { cause } : {}),
  });

/**
 * Makes a call, and shows in the timeline what was done before it, how often it was tried, and that it
 * took back what a task did.
 */
async function shown(
  platform: Platform,
  call: StepCall<TaskCall>,
  work: (call: StepCall<TaskCall>) => Promise<unknown>,
): Promise<unknown> {
  const { seq, isUndo, rows = [] } = call.input;
  const { executionId } = call.run;
  const scope = await outerScope(platform, call.run);
  const { db, tenantId } = scope;
  const { attempt: attempts } = Context.current().info;
  const isCounted = attempts > 1 && !isUndo;
  const keep = async (): Promise<void> => {
    if (rows.length === 0 && !isCounted) return;
    await db.transaction(async (trx) => {
      await WorkflowTask.keep(trx, tenantId, executionId, rows);
      if (isCounted)
        await WorkflowTask.countAttempts(trx, tenantId, { executionId, seq, attempts });
    });
  };
  const secret = putValueOf(call.input);
  const hide = async (): Promise<void> => {
    if (secret !== undefined) await hideInRecords(scope, call.run, secret);
  };
  // Before it is put: a step that is canceled behind that would not hide it any more.
  await hide();
  const [made, kept] = await Promise.allSettled([work(call), keep()]);
  if (made.status === 'rejected') throw made.reason;
  const output = made.value;
  // What was kept meanwhile.
  await hide();
  // Repeated, the call does nothing and this is done.
  if (isUndo) {
    await db.transaction((trx) => WorkflowTask.markUndone(trx, tenantId, executionId, seq));
  }
  // The call is not made once more for its rows: the workflow keeps them.
  if (kept.status === 'rejected' && rows.length > 0) throw unkept(output, kept.reason);
  return output;
}

async function begin(
  scope: Scope,
  { definitionId, version, isStartTooLong = false }: DefinitionInput,
  executionId: string,
): Promise<BegunDefinition> {
  if (isStartTooLong) {
    const { inputBytes } = definitionLimits;
    const message = `What the event says has more than the ${inputBytes} bytes that an input may have.`;
    throw new Problem('limitReached', message);
  }
  await keepDefinition(scope, definitionId);
  await WorkflowStarts.forget(scope.db.read, scope.tenantId, executionId);
  const found = await readVersion(scope, definitionId, version);
  if (!found) throw problem.notFound('The version of the workflow is gone.');
  const definition = definitionIn(found);
  const isSandbox = scope.now !== scope.realNow;
  return {
    definition,
    name: definition.document.name,
    version,
    edition: 3,
    ...(isSandbox ? { standsAt: scope.now().getTime() } : {}),
  };
}

export function definitionActivities(platform: Platform, callOperation?: CallOperation) {
  const running = new Map<string, number>();
  const callOnce = async (call: StepCall<TaskCall>): Promise<unknown> => {
    const { run, input: task } = call;
    if (!callOperation) throw problem.unavailable('This worker carries out no operations.');
    const { roles, subject, credential } = await findPublisher(platform, run);
    const { operationId, parameters, body, read } = operationOf(task);
    const { depth, starter = run.actor } = run.input as DefinitionInput;
    const answer = await callOperation({
      identity: { tenantId: run.tenantId, orgId: run.orgId, roles, subject },
      credential,
      requestId: run.executionId,
      operationId,
      parameters,
      body,
      key: `workflow/${run.executionId}/${task.seq}${task.isUndo ? '/undo' : ''}`,
      depth,
      starter,
    });
    return read(answer);
  };
  const inPlace = async (
    call: StepCall<TaskCall>,
    work: (call: StepCall<TaskCall>) => Promise<unknown>,
  ): Promise<unknown> => {
    const { tenantId } = call.run;
    const count = running.get(tenantId) ?? 0;
    if (count >= callsPerTenant) {
      throw ApplicationFailure.retryable('The tenant has many calls under way.', awayFailureType);
    }
    running.set(tenantId, count + 1);
    try {
      return await beating(Context.current(), () => shown(platform, call, work));
    } catch (error) {
      throw failureOfCall(error);
    } finally {
      const left = (running.get(tenantId) ?? 1) - 1;
      if (left === 0) running.delete(tenantId);
      else running.set(tenantId, left);
    }
  };
  return {
    /** Reads the version of a definition, once: from now on the execution can be read. */
    beginDefinition: flowStep(platform, begin),

    /** Keeps what tasks did that need no step of their own. */
    async keepTasks({ run, input, hidden = [] }: KeepCall): Promise<void> {
      try {
        const { db, tenantId } = await outerScope(platform, run);
        const rows = await withHidden(input, hidden);
        await db.transaction((trx) => WorkflowTask.keep(trx, tenantId, run.executionId, rows));
      } catch (error) {
        throw activityFailure(error);
      }
    },

    /** Makes a call of a definition, under a key of its own: a repetition does nothing again. */
    callTask: (call: StepCall<TaskCall>): Promise<unknown> => inPlace(call, callOnce),

    /** Calls a server elsewhere: it gets the same key when the call is repeated. */
    callHttp: (call: StepCall<TaskCall>): Promise<unknown> =>
      inPlace(call, (one) => callServer(platform, one)),

    /** Ends an execution of a definition with what it puts out. */
    endDefinition: flowStep(platform, async ({ db, tenantId }, output: unknown, executionId) => {
      await WorkflowUndos.end(db.read, tenantId, executionId);
      return output as Record<string, unknown>;
    }),
  };
}
