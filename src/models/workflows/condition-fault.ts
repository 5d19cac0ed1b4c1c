import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

/** An event for which a condition could not be evaluated. */
export interface NewConditionFault {
  readonly definitionId: string;
  /** Null: that which the execution keeps to. */
  readonly version: number | null;
  readonly event: string;
  readonly executionId: string | null;
  readonly reason: string;
}

/** The last event for which a condition of a workflow could not be evaluated. */
export class ConditionFault extends TenantModel {
  static override tableName = 'workflow_condition_fault';
  static override idColumn = ['tenantId', 'definitionId'];

  declare definitionId: string;
  declare version: number;
  declare event: string;
  /** The execution that would have heard it; null: it would have started one. */
  declare executionId: string | null;
  declare reason: string;
  declare at: Date;

  /** Keeps one of each workflow, which was none within the last minute; gives those that it has kept. */
  static note(
    trx: Knex,
    tenantId: string,
    at: Date,
    faults: readonly NewConditionFault[],
  ): Promise<(NewConditionFault & { readonly version: number })[]> {
    return sqlRows(
      trx,
      `insert into workflow_condition_fault as known
         (tenant_id, definition_id, version, event, execution_id, reason, at)
       select definition.tenant_id, definition.id,
         coalesce(fault.version, (execution.input ->> 'version')::integer, definition.version),
         fault.event, fault.execution_id, fault.reason, ?::timestamptz
       from unnest(?::uuid[], ?::integer[], ?::text[], ?::uuid[], ?::text[])
         as fault (definition_id, version, event, execution_id, reason)
       join workflow_definition as definition
         on definition.tenant_id = ? and definition.id = fault.definition_id
       left join execution
         on execution.tenant_id = definition.tenant_id and execution.id = fault.execution_id
       on conflict (tenant_id, definition_id) do update set version = excluded.version,
         event = excluded.event, execution_id = excluded.execution_id, reason = excluded.reason,
         at = excluded.at
       where known.at <= excluded.at - interval '1 minute'
       returning definition_id as "definitionId", version, event, execution_id as "executionId",
         reason`,
      [
        at,
        faults.map(({ definitionId }) => definitionId),
        faults.map(({ version }) => version),
        faults.map(({ event }) => event),
        faults.map(({ executionId }) => executionId),
        faults.map(({ reason }) => reason),
        tenantId,
      ],
    );
  }
}
