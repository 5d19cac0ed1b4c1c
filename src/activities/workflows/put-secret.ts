import { Portions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import type { KeptTask } from '../../messages/definitions/task.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { Execution } from '../../models/flows/execution.js';
import { WorkflowTask } from '../../models/workflows/task.js';
import { HiddenSecrets } from './hidden-secrets.js';
import { marksOf } from './text-marks.js';

type Values = Pick<KeptTask, 'input' | 'output' | 'error'>;

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** What the values of a run of a task become. */
async function hiddenIn(hiding: HiddenSecrets, { input, output, error }: Values): Promise<Values> {
  const hidden = async (text: string | null): Promise<string | null> =>
    text === null ? null : JSON.stringify(await hiding.json(JSON.parse(text)));
  return {
    input: await hidden(input),
    output: await hidden(output),
    error: await hidden(error),
  };
}

/**
 * Hides what a secret has become in what is recorded of the execution that has set it: its input, and
 * what its tasks were given, gave and failed with so far (docs/decisions/0454). Of what was looked through
 * before only that is looked through again which may have it (docs/decisions/0458).
 */
export async function hideInRecords(
  { db, tenantId }: Scope,
  { executionId, input }: FlowRun,
  value: string,
): Promise<void> {
  const hiding = new HiddenSecrets([value]);
  const { start } = input as DefinitionInput;
  // The row of the execution, which others wait for, is touched only where it has the value.
  const isInStart = JSON.stringify(await hiding.json(start)) !== JSON.stringify(start);
  const portions = new Portions();
  await db.transaction(async (trx) => {
    const rows = await WorkflowTask.holding(trx, tenantId, executionId, hiding.marks);
    const looked = [];
    for (const row of rows) {
      const shown = await hiddenIn(hiding, row);
      const marks = marksOf([shown.input, shown.output, shown.error].map(parsed));
      looked.push({ seq: row.seq, ...shown, marks });
      await portions.rest();
    }
    await WorkflowTask.rewrite(trx, tenantId, executionId, looked);
    if (!isInStart) return;
    await Execution.rewriteInput(trx, tenantId, executionId, (shown) => hiding.json(shown));
  });
}

/** Rows of tasks that were done while secrets got these values. */
export async function withHidden(
  rows: readonly KeptTask[],
  values: readonly string[],
): Promise<readonly KeptTask[]> {
  if (values.length === 0) return rows;
  const hiding = new HiddenSecrets(values);
  const shown: KeptTask[] = [];
  for (const row of rows) shown.push({ ...row, ...(await hiddenIn(hiding, row)) });
  return shown;
}
