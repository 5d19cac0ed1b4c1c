import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Knex } from 'knex';
import { recordWorkflowEnd } from '../../commands/flows/workflow-end.js';
import type { Scope } from '../../kernel/scope.js';
import { recordedAs } from '../../messages/definitions/definition-run.js';
import { Execution, type TemporalRun } from '../../models/flows/execution.js';
import type { StepCall } from './flow-step.js';

export function currentPlace(): TemporalRun {
  const { workflowExecution, workflowType } = activityInfo();
  if (!workflowExecution || workflowType === undefined) {
    throw new Error('The activity belongs to no workflow.');
  }
  return { workflow: workflowType, ...workflowExecution };
}

/**
 * Runs a step once, in one transaction: when Temporal retries a step that was committed (its worker
 * was killed before it could report), the stored result is returned and nothing is written.
 */
export async function once<T>(
  trx: Knex.Transaction,
  scope: Scope,
  { run, isLast = false }: StepCall<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const { activityType, activityId } = activityInfo();
  const step = `${activityId} ${activityType}`;
  const place = currentPlace();
  const { status, done } = await Execution.begin(trx, run, place, step);
  if (done) return done.result as T;
  if (status !== 'running') {
    throw ApplicationFailure.nonRetryable(`The execution is ${status} already.`, 'ExecutionEnded');
  }
  const result = await work();
  await Execution.endStep(trx, run, step, result, isLast);
  if (isLast) {
    const workflow = recordedAs(place.workflow, run.input);
    const end = { executionId: run.executionId, workflow, output: result };
    await recordWorkflowEnd(trx, scope, { ...end, status: 'completed' });
  }
  return result;
}
