import type { Knex } from 'knex';
import { sqlRows, type SqlBindings } from '../db/sql-rows.js';

/** Which rows of a tenant one statement removes. */
export interface AgedRows {
  readonly tenantId: string;
  /** Those that are older. */
  readonly before: Date;
  readonly limit: number;
}

async function countOf(trx: Knex.Transaction, sql: string, bindings: SqlBindings): Promise<number> {
  const rows = await sqlRows<{ count: number }>(trx, sql, bindings);
  return rows[0]?.count ?? 0;
}

/**
 * Removes deliveries of webhooks that have ended, with their attempts, and events that no delivery is
 * about any more. One statement: a delivery that ends meanwhile is in its snapshot as it was, so that
 * its event stays.
 */
export const removeWebhookRows = (trx: Knex.Transaction, aged: AgedRows): Promise<number> =>
  countOf(
    trx,
    `with old as materialized (
       select found.id, found.event_id from webhook cross join lateral (
         -- By the index of the list: the oldest ones that have ended.
         select id, event_id, created_at from webhook_delivery as delivery
         where delivery.tenant_id = :tenantId and delivery.webhook_id = webhook.id
           and delivery.status in ('delivered', 'failed')
         order by delivery.seq limit :limit
       ) as found
       where webhook.tenant_id = :tenantId and found.created_at < :before limit :limit
     ),
     locked as materialized (
       -- One that is sent again at this moment is no longer old.
       select id from webhook_delivery where tenant_id = :tenantId and id in (select id from old)
         and status in ('delivered', 'failed') for update skip locked
     ),
     attempts as (
       delete from webhook_attempt as attempt using locked
       where attempt.tenant_id = :tenantId and attempt.delivery_id = locked.id
     ),
     deliveries as (
       delete from webhook_delivery as delivery using locked
       where delivery.tenant_id = :tenantId and delivery.id = locked.id returning 1
     ),
     needed as materialized (
       select event_id from webhook_delivery
       where tenant_id = :tenantId and status in ('pending', 'sending', 'retrying')
       union all
       select event_id from old where id not in (select id from locked)
     ),
     old_events as materialized (
       select id from webhook_event
       -- Ids begin with their time; the clock of a process may be a little ahead of another's.
       where tenant_id = :tenantId and id < uuid_at(:before::timestamptz + interval '1 minute')
         and created_at < :before and (select count(*) from old) < :limit
         and id not in (select event_id from needed)
       order by id limit :limit
     ),
     events as (
       delete from webhook_event as event using old_events
       where event.tenant_id = :tenantId and event.id = old_events.id returning 1
     )
     select ((select count(*) from deliveries) + (select count(*) from events))::integer as count`,
    { ...aged },
  );

/**
 * Removes executions that have ended, but for those whose answer a request under an idempotency key
 * may still ask for; an item of a batch is named `<workflow id of the batch>#<index>`.
 */
export const removeExecutions = (trx: Knex.Transaction, aged: AgedRows): Promise<number> =>
  countOf(
    trx,
    `with recursive name (workflow) as (
       (select workflow from execution where tenant_id = :tenantId order by workflow limit 1)
       union all
       select (
         select execution.workflow from execution
         where tenant_id = :tenantId and execution.workflow > name.workflow
         order by execution.workflow limit 1
       ) from name where name.workflow is not null
     ),
     old as materialized (
       select found.id from name cross join lateral (
         select id from execution
         where tenant_id = :tenantId and execution.workflow = name.workflow
           and started_at < :before and completed_at < :before and status <> 'running'
           and not exists (
             select from idempotency_key as key
             where key.tenant_id = :tenantId and key.workflow_id in (
               execution.workflow_id, regexp_replace(execution.workflow_id, '#[0-9]+$', '')
             )
           )
         order by started_at limit :limit
       ) as found
       limit :limit
     ),
     gone as (
       delete from execution using old
       where execution.tenant_id = :tenantId and execution.id = old.id
         and execution.status <> 'running' returning 1
     )
     select count(*)::integer as count from gone`,
    { ...aged },
  );

/** Removes keys with the answers under them; not that of an execution that still runs. */
export const removeIdempotencyKeys = (trx: Knex.Transaction, aged: AgedRows): Promise<number> =>
  countOf(
    trx,
    `with old as materialized (
       select key from idempotency_key as known
       where tenant_id = :tenantId and created_at < :before and not exists (
         select from execution where execution.tenant_id = :tenantId
           and execution.id = known.execution_id and execution.status = 'running'
       )
       order by created_at limit :limit
     ),
     gone as (
       delete from idempotency_key as known using old
       where known.tenant_id = :tenantId and known.key = old.key returning 1
     )
     select count(*)::integer as count from gone`,
    { ...aged },
  );

/**
 * Removes the oldest part of the tenant's audit; the database itself decides what is old, and keeps
 * the hash of the last entry that goes (`age_audit`, docs/decisions/0351).
 */
export const removeAuditEntries = (
  trx: Knex.Transaction,
  { tenantId, limit }: AgedRows,
): Promise<number> => countOf(trx, 'select age_audit(?, ?) as count', [tenantId, limit]);
