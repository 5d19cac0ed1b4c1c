import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** Calls that take back tasks of executions that run, in blocks (docs/decisions/0491). */
export const WorkflowUndos = {
  /** Keeps a block of calls, as JSON. */
  async keep(
    db: Knex,
    tenantId: string,
    executionId: string,
    { block, calls }: { readonly block: number; readonly calls: string },
  ): Promise<void> {
    await sqlRows(
      db,
      `insert into workflow_undo (tenant_id, execution_id, block, calls) values (?, ?, ?, ?)
       on conflict (tenant_id, execution_id, block) do update set calls = excluded.calls`,
      [tenantId, executionId, block, calls],
    );
  },

  /** A block of calls, as JSON; undefined: it was never kept. */
  async read(
    db: Knex,
    tenantId: string,
    executionId: string,
    block: number,
  ): Promise<string | undefined> {
    const rows = await sqlRows<{ calls: string }>(
      db,
      'select calls from workflow_undo where tenant_id = ? and execution_id = ? and block = ?',
      [tenantId, executionId, block],
    );
    return rows[0]?.calls;
  },

  /** Forgets all calls of an execution, in the transaction in which it ends. */
  async forget(trx: Knex, tenantId: string, executionId: string): Promise<void> {
    await sqlRows(trx, 'delete from workflow_undo where tenant_id = ? and execution_id = ?', [
      tenantId,
      executionId,
    ]);
  },
};
