import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** A security event of a tenant of another cell, on its way into the audit there. */
export interface RelayedEvent {
  readonly tenantId: string;
  readonly id: string;
  readonly at: Date;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly callerRequestId: string | null;
  readonly entity: string;
  readonly entityKey: string | null;
  readonly action: string;
  /** JSON text. */
  readonly details: string | null;
}

/** What waits in the home database for tenants of a cell, the oldest first. */
export async function listRelayedEvents(
  home: Knex,
  cell: string,
  limit: number,
): Promise<RelayedEvent[]> {
  const rows = await sqlRows<RelayedEvent>(
    home,
    `select event.tenant_id as "tenantId", event.id, to_jsonb(event.at) #>> '{}' as at, actor,
       request_id as "requestId", caller_request_id as "callerRequestId", entity,
       entity_key as "entityKey", action, details::text as details
     from relayed_event as event left join tenant_cell as place using (tenant_id)
     where coalesce(place.cell, 'home') = ? order by event.at limit ?`,
    [cell, limit],
  );
  return rows;
}

/** Writes events into the audit of a cell; those that have come before change nothing. */
export async function receiveEvents(cell: Knex, events: readonly RelayedEvent[]): Promise<void> {
  await cell.transaction(async (trx) => {
    for (const event of events) {
      await trx.raw('select receive_security_event(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', [
        event.id,
        event.at as unknown as string,
        event.tenantId,
        event.actor,
        event.requestId,
        event.callerRequestId,
        event.entity,
        event.entityKey,
        event.action,
        event.details,
      ] as string[]);
    }
    // One that came is not passed on again after its row in the home database is gone.
    await trx.raw(`delete from received_event where id in (
      select id from received_event where received_at < now() - interval '30 days'
      order by received_at limit 1000)`);
  });
}

/** Removes events that have been received. */
export async function forgetRelayedEvents(home: Knex, ids: readonly string[]): Promise<void> {
  await home.raw('delete from relayed_event where id = any(?::uuid[])', [[...ids]]);
}

/** What cells know of a tenant besides its rows. */
interface MirroredTenant {
  readonly id: string;
  readonly name: string;
  readonly suspendedAt: string | null;
}

/** Makes names and suspensions in a cell what they are in the home database. */
export async function mirrorTenants(home: Knex, cell: Knex, name: string): Promise<void> {
  const tenants = await sqlRows<MirroredTenant>(
    home,
    `select id, tenant.name, to_jsonb(suspended_at) #>> '{}' as "suspendedAt"
     from tenant join tenant_cell on tenant_id = id where cell = ?`,
    [name],
  );
  if (tenants.length === 0) return;
  await cell.raw('select mirror_tenants(?::jsonb)', [JSON.stringify(tenants)]);
}
