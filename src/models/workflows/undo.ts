import type { Knex } from 'knex';
import { isFencedSql } from '../access/tenant.js';
import { sqlRows } from '../db/sql-rows.js';

/** Blocks of some 256 KiB, and seldom of a few MiB, that are removed at once. */
const removedMax = 8;

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

  /** Bytes of the other blocks of an execution, and of its tenant: their lengths are read, not what they have. */
  async bytesBeside(
    db: Knex,
    tenantId: string,
    executionId: string,
    block: number,
  ): Promise<{ readonly own: number; readonly all: number }> {
    const [row] = await sqlRows<{ own: number; all: number }>(
      db,
      `select coalesce(sum(octet_length(calls)) filter (where execution_id = :executionId), 0)::float8
         as own, coalesce(sum(octet_length(calls)), 0)::float8 as all
       from workflow_undo
       where tenant_id = :tenantId and (execution_id, block) <> (:executionId::uuid, :block::integer)`,
      { tenantId, executionId, block },
    );
    return row ?? { own: 0, all: 0 };
  },

  /** Says that an execution calls no more of it, in the transaction in which it ends: that is to cost little. */
  async end(trx: Knex, tenantId: string, executionId: string): Promise<void> {
    await sqlRows(
      trx,
      `update workflow_undo set is_over = true
       where tenant_id = ? and execution_id = ? and not is_over`,
      [tenantId, executionId],
    );
  },

  /** Removes some blocks of executions that have ended; whether there may be more. */
  async removeEnded(db: Knex): Promise<boolean> {
    const gone = await sqlRows(
      db,
      `with over as materialized (
         select tenant_id, execution_id, block from workflow_undo
         where is_over and not ${isFencedSql('tenant_id')}
         order by tenant_id, execution_id, block limit ? for update skip locked
       )
       delete from workflow_undo as undo using over
       where undo.tenant_id = over.tenant_id and undo.execution_id = over.execution_id
         and undo.block = over.block
       returning 1`,
      [removedMax],
    );
    return gone.length === removedMax;
  },
};
