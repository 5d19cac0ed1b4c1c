import { hideDefinition } from '../../commands/workflows/definition.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { definitionWorkflow } from '../../messages/definitions/definition-run.js';
import type { Platform } from '../../process/platform.js';
import { listRunning } from '../../queries/flows/execution.js';
import { findDefinition } from '../../queries/workflows/definition.js';

/** Executions that are asked to end at once. */
const portion = 100;

/**
 * Deletes a workflow of a tenant. It is hidden first, so that nothing starts meanwhile, and nothing
 * that runs needs it: an execution has its version in its history. 409: it runs, without `isForced`.
 */
export async function deleteDefinition(
  scope: Scope,
  { temporal }: Platform,
  key: string,
  isForced: boolean,
): Promise<void> {
  const found = await findDefinition(scope, key);
  const running = found ? await listRunning(scope, definitionWorkflow(found.id), portion) : [];
  if (running.length > 0 && !isForced) {
    throw problem.conflict(
      'The workflow runs at this moment: wait for its executions, or cancel them with force=true.',
      { field: 'force' },
    );
  }
  await hideDefinition(scope, key);
  for (let some = running; some.length > 0 && found;) {
    await Promise.all(some.map(({ workflowId, runId }) => temporal.cancel(workflowId, runId)));
    if (some.length < portion) break;
    some = await listRunning(scope, definitionWorkflow(found.id), portion, some.at(-1)?.id);
  }
}
