import type { Knex } from 'knex';
import { TenantModel } from './tenant-model.js';

/** A run of a workflow that has ended. */
export interface CompletedRun {
  readonly workflow: string;
  readonly workflowId: string;
  /** Temporal's run id, which is a UUID: also the id of the execution. */
  readonly runId: string;
  readonly actor: string;
  readonly input: object;
  /** Counts; those of several transactions of one run are added. */
  readonly output: Readonly<Record<string, number>>;
  readonly startedAt: Date;
  readonly completedAt: Date;
}

/** A run of a workflow, kept when Temporal has long forgotten it. */
export class Execution extends TenantModel {
  static override tableName = 'execution';
  static override jsonAttributes = ['input', 'output', 'error'];

  declare workflow: string;
  declare workflowId: string;
  declare runId: string;
  declare status: string;
  declare actor: string | null;
  declare input: object | null;
  declare output: object | null;
  declare error: object | null;
  declare startedAt: Date;
  declare completedAt: Date | null;

  /** Records what a transaction of a run did; answers with the counts of the run so far. */
  static async addCounts(
    trx: Knex,
    tenantId: string,
    run: CompletedRun,
  ): Promise<Readonly<Record<string, number>>> {
    const { input, output, runId, ...columns } = run;
    const { rows } = await trx.raw<{ rows: { output: Record<string, number> }[] }>(
      `insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, status,
         input, output, started_at, completed_at)
       values (?, ?, ?, ?, ?, ?, 'completed', ?, ?, ?, ?)
       on conflict (tenant_id, workflow_id, run_id) do update set
         completed_at = excluded.completed_at,
         output = (
           select jsonb_object_agg(key, value::numeric + (execution.output ->> key)::numeric)
           from jsonb_each_text(excluded.output)
         )
       returning output`,
      [
        ...[tenantId, runId, runId, columns.workflow, columns.workflowId, columns.actor],
        ...[JSON.stringify(input), JSON.stringify(output), columns.startedAt, columns.completedAt],
      ],
    );
    return rows[0]?.output ?? output;
  }
}
