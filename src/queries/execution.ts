import type { FlowOutcome } from '../kernel/flow-run.js';
import { parseJson } from '../kernel/json.js';
import type { Scope } from '../kernel/scope.js';

interface EndRow {
  readonly status: string;
  /** JSON as text: numbers keep all their digits. */
  readonly output: string | null;
  readonly error: string | null;
}

/** How an execution ended; `undefined` while it runs, or when nothing is known of it. */
export async function findFlowOutcome(
  { db, tenantId }: Scope,
  executionId: string,
): Promise<FlowOutcome | undefined> {
  const { rows } = await db.read.raw<{ rows: EndRow[] }>(
    `select status, output::text, error::text from execution where tenant_id = ? and id = ?`,
    [tenantId, executionId],
  );
  const [row] = rows;
  if (!row || row.status === 'running') return undefined;
  if (row.status === 'completed') return { ok: true, output: parseJson(row.output ?? 'null') };
  const failure = row.error === null ? undefined : parseJson(row.error);
  return {
    ok: false,
    failure: (failure as Extract<FlowOutcome, { ok: false }>['failure'] | undefined) ?? {
      kind: 'conflict',
      message: `The execution is ${row.status}.`,
      details: {},
    },
  };
}
