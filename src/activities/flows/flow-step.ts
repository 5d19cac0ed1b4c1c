import { activityInfo } from '@temporalio/activity';
import type { FlowRun } from '../../messages/flow-run.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import { jsonSafe } from '../../kernel/text/json.js';
import { isLongerThan } from '../../kernel/text/json-length.js';
import type { Problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import type { WorkKind } from '../../platform/database/time-limits.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { inStartNames } from './start-names.js';
import { currentPlace, once } from './step-once.js';

/** The input of a step of a flow. */
export interface StepCall<Input> {
  readonly run: FlowRun;
  readonly input: Input;
  /** The flow ends with this step: its transaction also completes the execution. */
  readonly isLast?: boolean;
}

/** How deep an execution of a tenant's workflow is: what its own steps cause is caused by it. */
function depthOf({ input }: FlowRun): Pick<Scope, 'depth'> {
  const { definitionId, depth } = (input ?? {}) as Partial<DefinitionInput>;
  return definitionId === undefined || depth === undefined ? {} : { depth };
}

/** The scope of a step outside of its transaction. */
export async function outerScope(
  platform: Platform,
  run: FlowRun,
  work: WorkKind = 'step',
): Promise<Scope> {
  const { tenantId, orgId, actor, requestId, callerRequestId } = run;
  const db = platform.database.forTenant(tenantId, { actor, requestId, callerRequestId }, work);
  const now = await platform.clocks.of(tenantId);
  return {
    tenantId,
    orgId,
    roles: [],
    actor,
    requestId,
    callerRequestId,
    db,
    now,
    realNow: platform.now,
    ...depthOf(run),
  };
}

/** A caller that started the flow by its slug knows the field names of its start node. */
function inCallersWords(found: Problem, { input }: StepCall<unknown>): Problem {
  const isOfStart = typeof input === 'object' && input !== null && 'start' in input;
  return isOfStart ? inStartNames(found, currentPlace().workflow) : found;
}

/** What a step does in its transaction, for the execution of this id. */
export type StepWork<Input, Output> = (
  scope: Scope,
  input: Input,
  executionId: string,
) => Promise<Output>;

/** The same for the items of a batch's step at once, in their order, as if one was done after the other. */
export type StepTogether<Input, Output> = (
  scope: Scope,
  inputs: readonly Input[],
) => Promise<readonly Output[]>;

/** A step that is done in one transaction; batches of a flow do the same work for each item. */
export type FlowStep<Input, Output> = ((call: StepCall<Input>) => Promise<Output>) & {
  readonly work: StepWork<Input, Output>;
};

/**
 * Makes an activity of commands: `work` gets the scope of the step's single transaction, which all
 * commands join. Requests of this process that wait for the end of the flow are notified after the
 * commit.
 */
export const flowStep = <Input, Output>(
  platform: Platform,
  work: StepWork<Input, Output>,
): FlowStep<Input, Output> =>
  Object.assign(
    preparedStep(platform, (_scope, input: Input) => Promise.resolve(input), work),
    { work },
  );

/** Bytes of an output from which on it is not written into Temporal's history, which takes at most 2 MiB for one. */
const historyBytesMax = 256 * 1024;

/**
 * What Temporal is told of a step's output. Nobody reads there what a flow gave: the execution has it, and so a
 * long one stays there alone (docs/decisions/0539).
 */
function forHistory({ isLast, run }: StepCall<unknown>, output: unknown): unknown {
  if (isLast !== true || !isLongerThan(output, historyBytesMax)) return jsonSafe(output);
  return { executionId: run.executionId, output: 'kept in the database' };
}

/**
 * A step that first does slow work outside the database and outside its transaction, so that no row
 * is locked meanwhile. `prepare` must have no side effects, since a retried step calls it again. `kind`
 * says how long the database may work for it.
 */
export function preparedStep<Input, Prepared, Output>(
  platform: Platform,
  prepare: (scope: Scope, input: Input) => Promise<Prepared>,
  work: StepWork<Prepared, Output>,
  kind: WorkKind = 'step',
): (call: StepCall<Input>) => Promise<Output> {
  return async (call) => {
    try {
      const scope = await outerScope(platform, call.run, kind);
      const prepared = await prepare(scope, call.input);
      const output = await scope.db.transaction((trx) =>
        once(trx, scope, call, () => work(within(scope, trx), prepared, call.run.executionId)),
      );
      if (call.isLast === true) {
        platform.flowReplies.notify(call.run.executionId, { ok: true, output });
      }
      return forHistory(call, output) as Output;
    } catch (error) {
      const failure = activityFailure(error, (found) => inCallersWords(found, call));
      // Without this line only Temporal would record an error that is no problem.
      if (failure === error) {
        const { activityType: step } = activityInfo();
        const { executionId, requestId, tenantId } = call.run;
        const { workflowId } = currentPlace();
        platform.log.error(
          { err: error, step, executionId, requestId, tenantId, workflowId },
          'a step failed',
        );
      }
      throw failure;
    }
  };
}
