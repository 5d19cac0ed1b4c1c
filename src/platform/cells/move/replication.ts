import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { sqlState, sqlStateOf } from '../../../kernel/sql-state.js';
import { MoveError } from './move-error.js';
import { keySql, tableSql, type MovedTable } from './moved-tables.js';

/** The publication, the slot and the subscription of a tenant's move have one name. */
export const moveName = (tenantId: string): string =>
  `durabill_move_${createHash('sha256').update(tenantId).digest('hex').slice(0, 24)}`;

/** The publication and the slot that tell which rows have to be compared again: see `change-stream.ts`. */
export const changesName = (tenantId: string): string => `${moveName(tenantId)}_changes`;

/** Where marks are written. */
export const markTable = 'tenant_mark';

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
 * Makes the slot of a publication, of the same name: from then on its changes are kept. It waits for what is
 * under way in that server. Without the publication there is none: the move was taken back.
 */
async function makeSlot(source: pg.Client, name: string): Promise<void> {
  for (const deadline = performance.now() + slotMs; ; await wait(200)) {
    try {
      // The publication is read to its end before: a function that decodes what others do loses the hold on
      // the page that its statement reads ("buffer pin is not owned").
      await source.query(
        `select pg_create_logical_replication_slot(published, 'pgoutput')
         from unnest(array(select pubname from pg_publication where pubname = $1)) as published`,
        [name],
      );
      return;
    } catch (error) {
      if (sqlStateOf(error) !== sqlState.configurationLimit) throw error;
      // Two moves that each have one of their two would wait for each other.
      if (performance.now() > deadline) throw new MoveError(noSlot);
    }
  }
}

const rowFilter = (tenantId: string): string => `where (tenant_id = ${pg.escapeLiteral(tenantId)})`;

/** Publishes the rows of one tenant, from now on and, with a subscription, those that are there. */
export async function publish(
  source: pg.Client,
  tenantId: string,
  tables: readonly MovedTable[],
): Promise<void> {
  const name = moveName(tenantId);
  if (!(await exists(source, isPublished, name))) {
    const list = tables.map((table) => `table ${tableSql(table)} ${rowFilter(tenantId)}`);
    // A row is copied into the target's own partition, not into one that has the same name.
    await source.query(
      `create publication ${name} for ${list.join(', ')} with (publish_via_partition_root = true)`,
    );
  }
  if (!(await exists(source, hasSlot, name))) await makeSlot(source, name);
}

/** What the publication says once all rows have been compared whose changes its slot does not keep. */
const compared = 'compared';

/** Keeps the keys of rows that change from now on, and those of marks with what they are. */
export async function beginRecord(
  source: pg.Client,
  tenantId: string,
  tables: readonly MovedTable[],
): Promise<void> {
  const name = changesName(tenantId);
  await forgetChanges(source, tenantId);
  const list = tables.map((table) => {
    const more = table.name === markTable ? ['mark'] : [];
    return `table ${tableSql(table)} (${keySql(table, more)}) ${rowFilter(tenantId)}`;
  });
  await source.query(
    `create publication ${name} for ${list.join(', ')} with (publish_via_partition_root = true)`,
  );
  await makeSlot(source, name);
}

/** All rows have been compared, but for those whose changes are kept. */
export async function endRecord(source: pg.Client, tenantId: string): Promise<void> {
  await source.query(`comment on publication ${changesName(tenantId)} is '${compared}'`);
}

/** Where the changes are kept from: as `0/1A2B`. Throws where rows have not been compared. */
export async function readRecord(
  source: pg.Client,
  tenantId: string,
  isCompared: boolean,
): Promise<string> {
  const { rows } = await source.query<{ confirmed: string; comment: string | null }>(
    `select confirmed_flush_lsn::text as confirmed, obj_description(oid, 'pg_publication') as comment
     from pg_replication_slots join pg_publication on pubname = slot_name where slot_name = $1`,
    [changesName(tenantId)],
  );
  const [row] = rows;
  if (row !== undefined && (!isCompared || row.comment === compared)) return row.confirmed;
  throw new MoveError('Its rows were not compared, or by another version: start the move again.');
}

/** Throws where a move has ended. */
export async function requirePublished(source: pg.Client, tenantId: string): Promise<void> {
  if (await exists(source, isPublished, moveName(tenantId))) return;
  throw new MoveError('The move was taken back, or has ended.');
}

/** Keeps no changes any more. */
export async function forgetChanges(source: pg.Client, tenantId: string): Promise<void> {
  const name = changesName(tenantId);
  await source.query(`drop publication if exists ${name}`);
  await dropSlot(source, name);
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

/** Writes a mark into the source that is copied behind everything before it; it is on the disk then. */
export async function writeMark(source: pg.Client, tenantId: string): Promise<string> {
  const mark = randomUUID();
  await source.query(
    `insert into ${markTable} (tenant_id, mark) values ($1, $2)
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

/**
 * Waits until the target has what the source has by now, and returns the mark behind that; throws
 * `LagError` where it takes too long.
 */
export async function catchUp(
  source: pg.Client,
  target: pg.Client,
  { tenantId, withinMs }: { readonly tenantId: string; readonly withinMs: number },
): Promise<string> {
  const mark = await writeMark(source, tenantId);
  for (const deadline = performance.now() + withinMs; ; await wait(lookMs)) {
    const { rows } = await target.query(
      `select 1 from ${markTable} where tenant_id = $1 and mark = $2`,
      [tenantId, mark],
    );
    if (rows.length > 0) return mark;
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
  await forgetChanges(source, tenantId);
}

async function dropSlot(source: pg.Client, name: string): Promise<void> {
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

/**
 * Ends what earlier attempts at a move are doing at its source: they were taken for dead, and may go on. Their
 * connections are known by their name, as are our own; the sender of the subscription has it, too.
 */
export async function endOthers(own: readonly pg.Client[], tenantId: string): Promise<void> {
  const pids: number[] = [];
  for (const client of own) {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    pids.push(...rows.map(({ pid }) => pid));
  }
  await own[0]?.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> all ($3::int[])
       and (application_name = $1 and backend_type = 'client backend' or application_name = $2)`,
    [moveName(tenantId), changesName(tenantId), pids],
  );
}

/** How long another attempt is waited for. */
const turnMs = 10_000;

/** Waits until no other attempt at the same move works, and keeps others out until the connection ends. */
export async function takeTurn(source: pg.Client, tenantId: string): Promise<void> {
  // The turn of a machine that is gone ends soon.
  await source.query(
    'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3',
  );
  await source.query(`set lock_timeout = ${turnMs}`);
  await source.query('select pg_advisory_lock(hashtextextended($1, 0))', [moveName(tenantId)]);
  await source.query('set lock_timeout = 0');
}
