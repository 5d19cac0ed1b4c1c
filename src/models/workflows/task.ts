import type { Knex } from 'knex';
import type { TaskRow } from '../../messages/definitions/task.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

/** Characters of what a task was given and gave that are kept; few, once there are many tasks. */
const shownMax = { first: 8_000, later: 500 };
const firstTasks = 1_000;

/** JSON of a value; of one that is long, how long it is. */
function shown(value: unknown, seq: number): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  const max = seq <= firstTasks ? shownMax.first : shownMax.later;
  return text.length <= max ? text : JSON.stringify({ cut: true, characters: text.length });
}

/** A run of a task of an execution. */
export class WorkflowTask extends TenantModel {
  static override tableName = 'workflow_task';
  static override idColumn = ['tenantId', 'executionId', 'seq'];

  declare executionId: string;
  declare seq: number;
  declare path: string;
  declare name: string;
  declare kind: string;
  declare status: string;
  declare attempts: number;
  declare input: string | null;
  declare output: string | null;
  declare error: string | null;
  declare startedAt: Date;
  declare endedAt: Date | null;
  declare undoneAt: Date | null;
  declare emittedAt: Date | null;

  /** Whether a run of a task has not emitted its event before: from now on it has. */
  static async markEmitted(
    trx: Knex,
    tenantId: string,
    executionId: string,
    seq: number,
  ): Promise<boolean> {
    const marked = await WorkflowTask.query(trx)
      .forTenant(tenantId)
      .where({ executionId, seq })
      .whereNull('emittedAt')
      .patch({ emittedAt: new Date() });
    return marked === 1;
  }

  /** Keeps how runs of tasks stand; what was kept before is what it was then. */
  static async keep(
    db: Knex,
    tenantId: string,
    executionId: string,
    rows: readonly TaskRow[],
  ): Promise<void> {
    for (const row of rows) {
      await sqlRows(
        db,
        `insert into workflow_task (tenant_id, execution_id, seq, path, name, kind, status, attempts,
           input, output, error, started_at, ended_at, undone_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         on conflict (tenant_id, execution_id, seq) do update set status = excluded.status,
           attempts = excluded.attempts, output = coalesce(excluded.output, workflow_task.output),
           input = coalesce(excluded.input, workflow_task.input), error = excluded.error,
           ended_at = excluded.ended_at, undone_at = excluded.undone_at`,
        [
          tenantId,
          executionId,
          row.seq,
          row.path,
          row.name,
          row.kind,
          row.status,
          row.attempts,
          shown(row.input, row.seq),
          shown(row.output, row.seq),
          shown(row.error, row.seq),
          row.startedAt,
          row.endedAt ?? null,
          row.undoneAt ?? null,
        ],
      );
    }
  }
}
