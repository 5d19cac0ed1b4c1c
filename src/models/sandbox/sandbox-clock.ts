import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** The time of a sandbox tenant, which stands still until it is moved. */
export interface TenantClock {
  readonly standsAt: Date;
  /** What fell due until then has been done. */
  readonly doneUntil: Date;
}

/** The clock of a tenant; undefined: it is no sandbox, and has the real time. */
export async function readTenantClock(
  db: Knex,
  tenantId: string,
): Promise<TenantClock | undefined> {
  const rows = await sqlRows<TenantClock>(
    db,
    `select stands_at as "standsAt", done_until as "doneUntil"
     from tenant_clock where tenant_id = ?`,
    [tenantId],
  );
  return rows[0];
}

/** Makes a new tenant a sandbox, whose time stands at this instant; undefined: it is none. */
export async function setTenantClock(
  trx: Knex,
  tenantId: string,
  at: Date | undefined,
): Promise<void> {
  await trx('tenantClock').where({ tenantId }).delete();
  if (at) await trx('tenantClock').insert({ tenantId, standsAt: at, doneUntil: at });
}

/** The sandboxes of a cell, as the platform sees them, with the time at which each stands. */
export async function listTenantClocks(platform: Knex): Promise<ReadonlyMap<string, Date>> {
  const rows = await platform('tenantClock').select<{ tenantId: string; standsAt: Date }[]>(
    'tenantId',
    'standsAt',
  );
  return new Map(rows.map(({ tenantId, standsAt }) => [tenantId, standsAt]));
}

/**
 * Moves the time of a sandbox, never back; `doneUntil`: what fell due until then has been done. A
 * repeated step changes nothing.
 */
export async function moveTenantClock(
  trx: Knex,
  tenantId: string,
  { standsAt, doneUntil }: TenantClock,
): Promise<void> {
  await sqlRows(
    trx,
    `update tenant_clock set stands_at = greatest(stands_at, :standsAt::timestamptz),
       done_until = greatest(done_until, :doneUntil::timestamptz)
     where tenant_id = :tenantId`,
    { tenantId, standsAt, doneUntil },
  );
}
