import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** Executions of a sandbox's own workflows that are under way. */
const runningSql = `
  select execution.workflow_id, wait.until
  from execution
  left join workflow_wait as wait on wait.tenant_id = execution.tenant_id
    and wait.execution_id = execution.id
  where execution.tenant_id = :tenantId and execution.status = 'running'
    and execution.workflow like 'runDefinition/%'`;

/** How the workflows of a sandbox stand at an instant of its time. */
export interface WorkflowsAt {
  /** Workflow ids of executions whose wait is over. */
  readonly due: readonly string[];
  /** Whether each one waits for a later instant, or has ended. */
  readonly isQuiet: boolean;
}

/** What executions of a sandbox's workflows wait for; others wait by themselves. */
export const WorkflowWaits = {
  /** Notes that an execution does nothing until an instant. */
  async keep(db: Knex, tenantId: string, executionId: string, until: Date): Promise<void> {
    await sqlRows(
      db,
      `insert into workflow_wait (tenant_id, execution_id, until) values (?, ?, ?)
       on conflict (tenant_id, execution_id) do update set until = excluded.until`,
      [tenantId, executionId, until],
    );
  },

  /** When the first wait ends; undefined: nobody waits. */
  async next(db: Knex, tenantId: string): Promise<Date | undefined> {
    const rows = await sqlRows<{ until: Date | null }>(
      db,
      `select min(until) as until from (${runningSql}) as running`,
      { tenantId },
    );
    return rows[0]?.until ?? undefined;
  },

  /** Whose wait is over at an instant, and whether everything that can be done has been done. */
  async at(db: Knex, tenantId: string, at: Date): Promise<WorkflowsAt> {
    const [row] = await sqlRows<WorkflowsAt>(
      db,
      `with running as (${runningSql})
       select coalesce(array_agg(workflow_id) filter (where until <= :at), '{}') as due,
         coalesce(bool_and(coalesce(until > :at, false)), true)
           and not exists (select from workflow_start where tenant_id = :tenantId) as "isQuiet"
       from running`,
      { tenantId, at },
    );
    return row ?? { due: [], isQuiet: true };
  },
};
