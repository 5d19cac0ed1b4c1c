import { hideDefinition } from '../../commands/workflows/definition.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { definitionWorkflow } from '../../messages/definitions/definition-run.js';
import type { Platform } from '../../process/platform.js';
import { listRunning } from '../../queries/flows/execution.js';

/** Executions that are asked to end at once. */
const portion = 100;

/**
 * Deletes a workflow of a tenant. It is hidden first, under the lock that each execution takes when it
 * begins: one that has begun is seen here, and one that has not finds it gone and does nothing. Nothing
 * that runs needs it: an execution has its version in its history. 409: it runs, without `isForced`.
 */
export async function deleteDefinition(
  scope: Scope,
  { temporal }: Platform,
  key: string,
  isForced: boolean,
): Promise<void> {
  const { workflow, running } = await scope.db.transaction(async (trx) => {
    const inside = within(scope, trx);
    const hidden = definitionWorkflow(await hideDefinition(inside, key));
    const found = await listRunning(inside, hidden, portion);
    if (found.length > 0 && !isForced) {
      throw problem.conflict(
        'The workflow runs at this moment: wait for its executions, or cancel them with force=true.',
        { field: 'force' },
      );
    }
    return { workflow: hidden, running: found };
  });
  for (let some = running; some.length > 0;) {
    await Promise.all(some.map(({ workflowId, runId }) => temporal.cancel(workflowId, runId)));
    if (some.length < portion) break;
    some = await listRunning(scope, workflow, portion, some.at(-1)?.id);
  }
}
