import type { Knex } from 'knex';
import { depthMax } from '../../messages/definitions/definition-run.js';
import { hasRunningRoomSql } from './executions-at-once.js';
import { isFencedSql, isSuspendedSql } from '../access/tenant.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

/** Workflows of a tenant that one kind of event may start, and starts that may wait. */
export const triggersMax = 20;
const waitingMax = 10_000;
/** Starts of a tenant that are claimed at once: the others have their turn after them. */
const claimsPerTenant = 50;
const claimsMax = 200;
/** Bytes that their events may have together, for each tenant; the first is always claimed. */
const claimedBytesMax = 4 * 1024 * 1024;

/** The kind of event that starts a workflow. */
export class WorkflowTrigger extends TenantModel {
  static override tableName = 'workflow_trigger';
  static override idColumn = ['tenantId', 'definitionId'];

  declare definitionId: string;
  declare version: number;
  declare event: string;
  declare condition: string | null;

  /** Keeps that of a workflow. */
  static async keep(
    trx: Knex,
    tenantId: string,
    {
      definitionId,
      version,
      event,
      condition,
    }: Pick<WorkflowTrigger, 'definitionId' | 'version' | 'event' | 'condition'>,
  ): Promise<void> {
    await sqlRows(
      trx,
      `insert into workflow_trigger (tenant_id, definition_id, version, event, condition)
       values (?, ?, ?, ?, ?)`,
      [tenantId, definitionId, version, event, condition],
    );
  }
}

/** Events with the columns id, event, record_id, body and position; or what they start. */
export interface EventsSql {
  readonly sql: string;
  readonly bindings: readonly (string | Date)[];
}

/**
 * SQL for the execution of a tenant's workflow that came to a change, how deep it is and who started it,
 * as `origin`: what it calls works for the request that is named like it, and what it emits and how it ends
 * are of itself.
 * Its binding is the tenant.
 */
const originSql = `left join lateral (
  select (execution.input ->> 'depth')::integer as depth,
    coalesce(execution.input ->> 'starter', execution.actor) as starter
  from execution
  where execution.tenant_id = ? and execution.workflow like 'runDefinition/%'
    and execution.id in (
      case
        when current_setting('app.request_id', true) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then current_setting('app.request_id', true)::uuid end,
      case when input.event = 'workflow.completed' or input.event like 'custom.%'
        then input.record_id end
    )
  order by depth desc limit 1
) as origin on true`;

/** The workflows of a tenant as targets: an event is the id of the one that it starts. */
export const namedWorkflows = (tenantId: string, cause: string): EventsSql => ({
  sql: `select id as definition_id, version, id::text as event, ?::text as cause,
      null::text as condition
    from workflow_definition where tenant_id = ? and deleted_at is null`,
  bindings: [cause, tenantId],
});

/** A start that a process has claimed. */
export interface ClaimedStart {
  readonly tenantId: string;
  readonly id: string;
  readonly definitionId: string;
  readonly version: number;
  readonly cause: string;
  readonly eventId: string;
  readonly condition: string | null;
  readonly body: string;
  readonly depth: number;
  /** Who started the execution that caused it; null where none did. */
  readonly starter: string | null;
}

const claimed = `returning start.tenant_id as "tenantId", start.id, start.version, start.cause,
  start.definition_id as "definitionId", start.event_id as "eventId", start.condition, start.body,
  start.depth, start.starter`;

/** Executions that are to be started: written with the change that causes them, or not at all. */
export const WorkflowStarts = {
  /** Records what events start. Chains of executions end, and so do lists of what waits. */
  async record(
    trx: Knex,
    tenantId: string,
    { sql, bindings }: EventsSql,
    { at, depth }: { readonly at: Date; readonly depth: number },
    targets: EventsSql = {
      sql: `select definition_id, version, event, event as cause, condition
        from workflow_trigger where tenant_id = ?`,
      bindings: [tenantId],
    },
  ): Promise<void> {
    await trx.raw(
      `insert into workflow_start (tenant_id, id, definition_id, version, cause, event_id,
         condition, body, depth, starter, created_at)
       select ?::text, gen_random_uuid(), definition_id, version, cause, id, condition, body,
         depth + 1, starter, ?::timestamptz
       from (
         select target.definition_id, target.version, target.condition, target.cause, input.id,
           input.body, input.position, origin.starter,
           greatest(coalesce(origin.depth, 0), ?::integer) as depth
         from (${sql}) as input join (${targets.sql}) as target on target.event = input.event
         ${originSql}
       ) as found
       where depth < ?::integer
       order by position
       limit greatest(0, ?::integer - (
         select count(*)::integer from (
           select from workflow_start where tenant_id = ? and claimed_at is null limit ?::integer
         ) as waiting
       ))
       on conflict on constraint workflow_start_once do nothing`,
      [
        tenantId,
        at,
        depth,
        ...bindings,
        ...targets.bindings,
        tenantId,
        depthMax,
        waitingMax,
        tenantId,
        waitingMax,
      ] as string[],
    );
  },

  /** Claims starts of all tenants in turn, the oldest of each first. */
  claim: (db: Knex): Promise<ClaimedStart[]> =>
    sqlRows<ClaimedStart>(
      db,
      `with waiting as materialized (
         select distinct tenant_id from workflow_start where claimed_at is null
       ),
       -- Asked once for each tenant, however many of its starts wait.
       tenants as materialized (
         select tenant_id from waiting
         where not ${isSuspendedSql('waiting.tenant_id')} and not ${isFencedSql('waiting.tenant_id')}
           and ${hasRunningRoomSql('waiting.tenant_id')}
       ),
       chosen as (
         select next.tenant_id, next.id from tenants cross join lateral (
           select start.tenant_id, start.id, row_number() over oldest as turn,
             sum(octet_length(start.body)) over oldest - octet_length(start.body) as before
           from workflow_start as start
           where start.tenant_id = tenants.tenant_id and start.claimed_at is null
           window oldest as (order by start.seq rows unbounded preceding)
           order by start.seq limit ?
         ) as next
         where next.before < ${claimedBytesMax}
         order by next.turn limit ?
       )
       update workflow_start as start set claimed_at = now() from chosen
       where start.tenant_id = chosen.tenant_id and start.id = chosen.id
         and start.claimed_at is null
       ${claimed}`,
      [claimsPerTenant, claimsMax],
    ),

  /** Claims starts again whose process has died before their execution began. */
  reclaim: (db: Knex): Promise<ClaimedStart[]> =>
    sqlRows<ClaimedStart>(
      db,
      `with found as materialized (
         select lost.tenant_id, lost.id, lost.claimed_at, octet_length(lost.body) as bytes
         from workflow_start as lost
         where lost.claimed_at < now() - interval '1 minute'
           and not ${isSuspendedSql('lost.tenant_id')} and not ${isFencedSql('lost.tenant_id')}
         order by lost.claimed_at limit ? for update skip locked
       ),
       chosen as (
         select tenant_id, id from (
           select *, sum(bytes) over (order by claimed_at, id rows unbounded preceding) - bytes as before
           from found
         ) as summed
         where before < ${claimedBytesMax}
       )
       update workflow_start as start set claimed_at = now() from chosen
       where start.tenant_id = chosen.tenant_id and start.id = chosen.id
       ${claimed}`,
      [claimsMax],
    ),

  /** Forgets a start, in the transaction in which its execution begins or ends. */
  async forget(trx: Knex, tenantId: string, executionId: string): Promise<void> {
    await trx.raw('delete from workflow_start where tenant_id = ? and id = ?', [
      tenantId,
      executionId,
    ]);
  },

  /** Forgets starts whose condition does not hold. */
  async drop(db: Knex, dropped: readonly ClaimedStart[]): Promise<void> {
    if (dropped.length === 0) return;
    await db.raw(
      `delete from workflow_start as start using unnest(?::text[], ?::uuid[]) as gone (tenant_id, id)
       where start.tenant_id = gone.tenant_id and start.id = gone.id`,
      [dropped.map(({ tenantId }) => tenantId), dropped.map(({ id }) => id)],
    );
  },
};
