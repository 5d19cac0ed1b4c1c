import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { sqlState, sqlStateOf } from '../../../kernel/sql-state.js';
import { MoveError } from './move-error.js';
import { tableSql, type MovedTable } from './moved-tables.js';

/** The publication, the slot and the subscription of a tenant's move have one name. */
export const moveName = (tenantId: string): string =>
  `durabill_move_${createHash('sha256').update(tenantId).digest('hex').slice(0, 24)}`;

/** The slot whose changes tell which rows have to be compared again: `changed-rows.ts`. */
export const changesSlotName = (tenantId: string): string => `${moveName(tenantId)}_changes`;

const exists = async (client: pg.Client, sql: string, name: string): Promise<boolean> =>
  (await client.query(sql, [name])).rows.length > 0;

const isPublished = 'select 1 from pg_publication where pubname = $1';
const hasSlot = 'select 1 from pg_replication_slots where slot_name = $1';
const isSubscribed = `select 1 from pg_subscription
  where subname = $1 and subdbid = (select oid from pg_database where datname = current_database())`;

const noSlot =
  'The server that the tenant leaves has no replication slot left: move fewer tenants at once, or raise max_replication_slots there.';

/** How long a slot is waited for that is free: others that copy tables have some for a moment. */
const slotMs = 10_000;

/**
 * Makes a slot from which on the changes of the published rows can be read. It waits for what is under way
 * in that server. Without the publication there is none: the move was taken back.
 */
export async function makeSlot(source: pg.Client, name: string, tenantId: string): Promise<void> {
  for (const deadline = performance.now() + slotMs; ; await wait(200)) {
    try {
      await source.query(
        `select pg_create_logical_replication_slot($1, 'pgoutput') from pg_publication where pubname = $2`,
        [name, moveName(tenantId)],
      );
      return;
    } catch (error) {
      if (sqlStateOf(error) !== sqlState.configurationLimit) throw error;
      // Two moves that each have one of their two would wait for each other.
      if (performance.now() > deadline) throw new MoveError(noSlot);
    }
  }
}

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
  if (!(await exists(source, hasSlot, name))) await makeSlot(source, name, tenantId);
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

/** Writes a mark into the source that is copied behind everything before it, and waits for that to be on its disk. */
export async function writeMark(source: pg.Client, tenantId: string): Promise<string> {
  const mark = randomUUID();
  await source.query(
    `insert into tenant_mark (tenant_id, mark) values ($1, $2)
     on conflict (tenant_id) do update set mark = excluded.mark`,
    [tenantId, mark],
  );
  return mark;
}

/** The target lags behind its source. */
export class LagError extends Error {
  constructor() {
    super('The target does not catch up with the source.');
    this.name = 'LagError';
  }
}

const lookMs = 5;

/** Waits until the target has what the source has by now; throws `LagError` where that takes too long. */
export async function catchUp(
  source: pg.Client,
  target: pg.Client,
  { tenantId, withinMs }: { readonly tenantId: string; readonly withinMs: number },
): Promise<void> {
  const mark = await writeMark(source, tenantId);
  for (const deadline = performance.now() + withinMs; ; await wait(lookMs)) {
    const { rows } = await target.query(
      'select 1 from tenant_mark where tenant_id = $1 and mark = $2',
      [tenantId, mark],
    );
    if (rows.length > 0) return;
    if (performance.now() > deadline) throw new LagError();
  }
}

/** Ends the copying in the target; the slot is the source's. */
export async function unsubscribe(target: pg.Client, tenantId: string): Promise<void> {
  const name = moveName(tenantId);
  if (!(await exists(target, isSubscribed, name))) return;
  await target.query(`alter subscription ${name} disable`);
  await target.query(`alter subscription ${name} set (slot_name = none)`);
  await target.query(`drop subscription ${name}`);
}

/** Ends the publication, with its slots and those that copied tables. */
export async function unpublish(source: pg.Client, tenantId: string): Promise<void> {
  await source.query(`drop publication if exists ${moveName(tenantId)}`);
  await dropSlot(source, moveName(tenantId));
  await dropSlot(source, changesSlotName(tenantId));
}

export async function dropSlot(source: pg.Client, name: string): Promise<void> {
  // A sender ends a moment after its subscription, and a worker that was killed leaves a reader.
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
      await wait(100);
    }
  }
}
