import { isObject } from '../../kernel/expression/shape.js';
import type { Scope } from '../../kernel/scope.js';
import type { TaskCall } from '../../messages/definitions/task.js';
import { Execution } from '../../models/flows/execution.js';
import { WorkflowTask } from '../../models/workflows/task.js';
import { HiddenSecrets } from './hidden-secrets.js';

/** The value that a call gives a secret; undefined: it gives none. */
export function putValueOf({ call, with: given }: TaskCall): string | undefined {
  if (call !== 'durabill.operation' || !isObject(given)) return undefined;
  const { operationId, body } = given;
  if (operationId !== 'putSecret' || !isObject(body)) return undefined;
  const { value } = body;
  return typeof value === 'string' ? value : undefined;
}

/**
 * Hides what a secret has become in what is recorded of the execution that has set it: its input, and
 * what its tasks were given and gave so far (docs/decisions/0454).
 */
export async function hideInRecords(
  { db, tenantId }: Scope,
  executionId: string,
  value: string,
): Promise<void> {
  const hiding = new HiddenSecrets([value]);
  const hidden = async (text: string | null): Promise<string | null> =>
    text === null ? null : JSON.stringify(await hiding.json(JSON.parse(text)));
  await db.transaction(async (trx) => {
    const inJson = JSON.stringify(value).slice(1, -1);
    const rows = await WorkflowTask.holding(trx, tenantId, executionId, inJson);
    const changed: typeof rows = [];
    for (const { seq, input, output } of rows) {
      changed.push({ seq, input: await hidden(input), output: await hidden(output) });
    }
    await WorkflowTask.rewrite(trx, tenantId, executionId, changed);
    await Execution.rewriteInput(trx, tenantId, executionId, (start) => hiding.json(start));
  });
}
