import type { Static } from 'typebox';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';
import { getExecution } from '../queries/flows/execution.js';
import type { Execution } from '../schemas/flows/execution.js';
import { checkWorkflow, executionView } from './execute-flow.js';
import type { RecordedWorkflow } from './known-workflows.js';

/** Asks Temporal to cancel an execution. 404: there is none. 409: it has ended. */
export async function cancelExecution(
  scope: Scope,
  platform: Platform,
  known: RecordedWorkflow,
  executionId: string,
): Promise<Static<typeof Execution>> {
  const { workflow } = known;
  checkWorkflow(scope, known);
  const record = await getExecution(scope, workflow, executionId);
  if (record.status !== 'running') {
    throw problem.conflict(`The execution is ${record.status} already.`, { field: 'status' });
  }
  await platform.temporal.cancel(record.workflowId, record.runId);
  return executionView(known, platform)(await getExecution(scope, workflow, executionId));
}
