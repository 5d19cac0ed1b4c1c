import { createHash } from 'node:crypto';
import pg from 'pg';
import { tableSql, type MovedTable } from './moved-tables.js';

/** The publication, the slot and the subscription of a tenant's move have one name. */
export const moveName = (tenantId: string): string =>
  `durabill_move_${createHash('sha256').update(tenantId).digest('hex').slice(0, 24)}`;

const exists = async (client: pg.Client, sql: string, name: string): Promise<boolean> =>
  (await client.query(sql, [name])).rows.length > 0;

const isPublished = 'select 1 from pg_publication where pubname = $1';
const hasSlot = 'select 1 from pg_replication_slots where slot_name = $1';
const isSubscribed = `select 1 from pg_subscription
  where subname = $1 and subdbid = (select oid from pg_database where datname = current_database())`;

/** Publishes the rows of one tenant, from now on and, with a subscription, those that are there. */
export async function publish(
  source: pg.Client,
  tenantId: string,
  tables: readonly MovedTable[],
): Promise<void> {
  const name = moveName(tenantId);
  if (!(await exists(source, isPublished, name))) {
    const filter = `(tenant_id = ${pg.escapeLiteral(tenantId)})`;
    const list = tables.map((table) => `table ${tableSql(table)} where ${filter}`);
    // A row is copied into the target's own partition, not into one that has the same name.
    await source.query(
      `create publication ${name} for ${list.join(', ')} with (publish_via_partition_root = true)`,
    );
  }
  if (await exists(source, hasSlot, name)) return;
  await source.query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
}

/** Has the rows copied, and what changes of them. The slot is made before: in one server it must be. */
export async function subscribe(
  target: pg.Client,
  tenantId: string,
  sourceUrl: string,
): Promise<void> {
  const name = moveName(tenantId);
  if (await exists(target, isSubscribed, name)) return;
  await target.query(
    `create subscription ${name} connection ${pg.escapeLiteral(sourceUrl)} publication ${name}
     with (create_slot = false, slot_name = '${name}')`,
  );
}

/** How far the copy is: tables that follow their source, and bytes of WAL that are still to come. */
export interface CopyProgress {
  readonly tables: number;
  readonly copied: number;
  readonly lagBytes: number;
}

export async function readProgress(
  source: pg.Client,
  target: pg.Client,
  tenantId: string,
): Promise<CopyProgress> {
  const name = moveName(tenantId);
  const { rows } = await target.query<{ tables: number; copied: number }>(
    `select count(*)::int as tables, count(*) filter (where srsubstate = 'r')::int as copied
     from pg_subscription_rel join pg_subscription on oid = srsubid where subname = $1`,
    [name],
  );
  const lag = await source.query<{ bytes: string | null }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::text as bytes
     from pg_replication_slots where slot_name = $1`,
    [name],
  );
  const { tables = 0, copied = 0 } = rows[0] ?? {};
  return { tables, copied, lagBytes: Number(lag.rows[0]?.bytes ?? 0) };
}

/**
 * Writes a mark into the source that is copied behind everything before it; returns whether the
 * target has it by now.
 */
export async function writeMark(source: pg.Client, tenantId: string, mark: string): Promise<void> {
  await source.query(
    `insert into tenant_mark (tenant_id, mark) values ($1, $2)
     on conflict (tenant_id) do update set mark = excluded.mark`,
    [tenantId, mark],
  );
}

export async function hasMark(target: pg.Client, tenantId: string, mark: string): Promise<boolean> {
  const { rows } = await target.query(
    'select 1 from tenant_mark where tenant_id = $1 and mark = $2',
    [tenantId, mark],
  );
  return rows.length > 0;
}

/** Ends the copying in the target; the slot is the source's. */
export async function unsubscribe(target: pg.Client, tenantId: string): Promise<void> {
  const name = moveName(tenantId);
  if (!(await exists(target, isSubscribed, name))) return;
  await target.query(`alter subscription ${name} disable`);
  await target.query(`alter subscription ${name} set (slot_name = none)`);
  await target.query(`drop subscription ${name}`);
}

/** Ends the publication, with the slot and those that copied tables. */
export async function unpublish(source: pg.Client, tenantId: string): Promise<void> {
  const name = moveName(tenantId);
  await source.query(`drop publication if exists ${name}`);
  // A sender ends a moment after its subscription.
  await source.query(
    `select pg_terminate_backend(active_pid) from pg_replication_slots
     where slot_name = $1 and active_pid is not null`,
    [name],
  );
  for (let attempt = 0; ; attempt += 1) {
    try {
      await source.query(
        `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1`,
        [name],
      );
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
