import type { Knex } from 'knex';
import type { KeptTask } from '../../messages/definitions/task.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

/** What a run of a task was given, gave and failed with, as JSON. */
type ShownValues = Pick<WorkflowTask, 'seq' | 'input' | 'output' | 'error'>;

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

  /** Keeps that what a run of a task did was taken back. */
  static async markUndone(db: Knex, tenantId: string, executionId: string, seq: number) {
    await WorkflowTask.query(db)
      .forTenant(tenantId)
      .where({ executionId, seq })
      .patch({ undoneAt: new Date() });
  }

  /** Keeps that the call of a run of a task is made for the so-many-th time. */
  static async countAttempts(
    db: Knex,
    tenantId: string,
    { executionId, seq, attempts }: Pick<WorkflowTask, 'executionId' | 'seq' | 'attempts'>,
  ): Promise<void> {
    await WorkflowTask.query(db)
      .forTenant(tenantId)
      .where({ executionId, seq })
      .patch({ attempts });
  }

  /**
   * Runs of tasks of an execution whose values may have what has these marks, and those whose marks are not
   * known: what was kept since they were looked through last.
   */
  static holding(
    trx: Knex,
    tenantId: string,
    executionId: string,
    marks: readonly string[],
  ): Promise<ShownValues[]> {
    return sqlRows<ShownValues>(
      trx,
      `select seq, input, output, error from workflow_task as task
       where tenant_id = ? and execution_id = ? and (marks is null or exists (
         select from unnest(?::varbit[]) as sought (marks)
         where case when length(sought.marks) = length(task.marks)
           then task.marks & sought.marks = sought.marks end))
       order by seq for update`,
      [tenantId, executionId, marks],
    );
  }

  /** Puts what is shown in the place of the values of runs of tasks, with its marks. */
  static async rewrite(
    trx: Knex,
    tenantId: string,
    executionId: string,
    tasks: readonly (ShownValues & { readonly marks: string })[],
  ): Promise<void> {
    if (tasks.length === 0) return;
    await sqlRows(
      trx,
      `update workflow_task as task set input = shown.input, output = shown.output,
         error = shown.error, marks = shown.marks
       from unnest(?::integer[], ?::text[], ?::text[], ?::text[], ?::varbit[])
         as shown (seq, input, output, error, marks)
       where tenant_id = ? and execution_id = ? and task.seq = shown.seq`,
      [
        tasks.map(({ seq }) => seq),
        tasks.map(({ input }) => input),
        tasks.map(({ output }) => output),
        tasks.map(({ error }) => error),
        tasks.map(({ marks }) => marks),
        tenantId,
        executionId,
      ],
    );
  }

  /**
   * Keeps how runs of tasks stand. Steps that run side by side, or again, bring them in any order: a run
   * that has ended stays as it is, and only what is not known of it yet is added.
   */
  static async keep(
    db: Knex,
    tenantId: string,
    executionId: string,
    tasks: readonly KeptTask[],
  ): Promise<void> {
    await sqlRows(
      db,
      `insert into workflow_task (tenant_id, execution_id, seq, path, name, kind, status, attempts,
         input, output, error, started_at, ended_at)
       select ?, ?, task.* from unnest(?::integer[], ?::text[], ?::text[], ?::text[], ?::text[],
         ?::integer[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[]) as task
       on conflict (tenant_id, execution_id, seq) do update set
         status = case workflow_task.status when 'running' then excluded.status
           else workflow_task.status end,
         attempts = greatest(workflow_task.attempts, excluded.attempts),
         input = coalesce(workflow_task.input, excluded.input),
         output = coalesce(workflow_task.output, excluded.output),
         error = coalesce(workflow_task.error, excluded.error),
         ended_at = coalesce(workflow_task.ended_at, excluded.ended_at),
         marks = null`,
      [
        tenantId,
        executionId,
        tasks.map(({ seq }) => seq),
        tasks.map(({ path }) => path),
        tasks.map(({ name }) => name),
        tasks.map(({ kind }) => kind),
        tasks.map(({ status }) => status),
        tasks.map(({ attempts }) => attempts),
        tasks.map(({ input }) => input),
        tasks.map(({ output }) => output),
        tasks.map(({ error }) => error),
        tasks.map(({ startedAt }) => startedAt),
        tasks.map(({ endedAt }) => endedAt ?? null),
      ],
    );
  }
}
