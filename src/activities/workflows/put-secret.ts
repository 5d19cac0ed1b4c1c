import { isObject } from '../../kernel/expression/json-schema-check.js';
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
 * what its tasks were given, gave and failed with so far (docs/decisions/0454).
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
    const rows = await WorkflowTask.holding(trx, tenantId, executionId, hiding.traces);
    const changed: typeof rows = [];
    for (const row of rows) {
      const input = await hidden(row.input);
      const output = await hidden(row.output);
      const error = await hidden(row.error);
      if (input === row.input && output === row.output && error === row.error) continue;
      changed.push({ seq: row.seq, input, output, error });
    }
    await WorkflowTask.rewrite(trx, tenantId, executionId, changed);
    await Execution.rewriteInput(trx, tenantId, executionId, (start) => hiding.json(start));
  });
}
