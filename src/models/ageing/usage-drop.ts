import type { Knex } from 'knex';
import type { ArchivedKind, UsageArchive } from '../../messages/ageing/usage-archive.js';
import type { ParquetColumn } from '../../messages/parquet.js';
import { sqlState, sqlStateOf } from '../../kernel/sql-state.js';
import { sqlRows } from '../db/sql-rows.js';
import { foreverPeriod } from '../../kernel/time/period.js';
import { eventTimeSql } from '../usage/usage-fact.js';

/** What `finish_usage_drop` raises; see the migration. */
const refusedState = 'DB346';
const changedState = 'DB347';

interface Obstacles {
  readonly state: string | null;
  readonly isDropped: boolean;
  readonly isOver: boolean;
  readonly isHeld: boolean;
  readonly isMoving: boolean;
  readonly unbilledAccount: string | null;
  readonly openUntil: string | null;
}

const firstDay = (month: string): string => `${month}-01`;

/** SQL for the ids of a month, `[first, end)`. */
const idsSql = `
  bound as materialized (
    select uuid_at((:month::date)::timestamp at time zone 'UTC') as first_id,
      uuid_at((:month::date + interval '1 month') at time zone 'UTC') as end_id
  )`;

/**
 * Why a month of a tenant has to stay in the database; null: nothing needs it. What is not billed yet is
 * billed from there, and a correction of a counter whose period still runs reads all that it counted.
 */
export async function findDropObstacle(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<string | null> {
  const [found] = await sqlRows<Obstacles>(
    db,
    `with ${idsSql}, charged as materialized (
       select account_id, max(transaction_date) as last_day, min(transaction_date) as first_day
       from rated_transaction, bound
       where tenant_id = :tenantId and id >= first_id and id < end_id group by account_id
     )
     select
       (select state from usage_archive_month where tenant_id = :tenantId and month = :month::date),
       exists (select from usage_archive_month where tenant_id = :tenantId and month = :month::date
         and dropped_at is not null) as "isDropped",
       now() >= (:month::date + interval '1 month 1 day') at time zone 'UTC' as "isOver",
       exists (select from legal_hold where tenant_id = :tenantId) as "isHeld",
       exists (select from fact_move where tenant_id = :tenantId and done_at is null)
         or exists (select from usage_total_rebuild where tenant_id = :tenantId) as "isMoving",
       coalesce(
         (select charged.account_id::text from charged left join billed_usage
            on billed_usage.tenant_id = :tenantId and billed_usage.account_id = charged.account_id
          where billed_until is null or billed_until < last_day order by 1 limit 1),
         (select account_id::text from unbilled_usage, bound
          where tenant_id = :tenantId and transaction_id >= first_id and transaction_id < end_id
          order by 1 limit 1)
       ) as "unbilledAccount",
       (select max(period_end)::text from usage_counter
        where tenant_id = :tenantId and period_end > (now() at time zone 'UTC')::date
          and period_end < :forever::date
          and period_start <= (select max(last_day) from charged)
          and period_end > (select min(first_day) from charged)) as "openUntil"`,
    { tenantId, month: firstDay(month), forever: foreverPeriod.end },
  );
  if (!found || found.state === null)
    return `The usage of ${tenantId} of ${month} is not archived.`;
  if (found.isDropped) return `The usage of ${tenantId} of ${month} is dropped already.`;
  if (found.state !== 'complete') {
    return `The archive of ${tenantId} of ${month} is '${found.state}': write it again first.`;
  }
  if (!found.isOver) return `The month ${month} is not over for a day yet.`;
  if (found.isHeld) return `The tenant ${tenantId} is under a legal hold.`;
  if (found.isMoving) {
    return `Projections or facts of ${tenantId} are being made again: 'durabill projections status' says how far that is.`;
  }
  if (found.unbilledAccount !== null) {
    return `Usage of ${tenantId} of ${month} is not billed, such as that of the account ${found.unbilledAccount}.`;
  }
  if (found.openUntil !== null) {
    return `A counter of ${tenantId} that usage of ${month} may have moved runs until ${found.openUntil}: corrections of later usage need it.`;
  }
  return null;
}

/** Keeps when the usage of a month occurred, and of which days its charges are. */
export async function noteMonthTimes(trx: Knex, { tenantId, month }: UsageArchive): Promise<void> {
  await trx.raw(
    `with ${idsSql}, time as (
       select min(${eventTimeSql}) as first_at, max(${eventTimeSql}) as last_at
       from usage_event, bound where tenant_id = :tenantId and id >= first_id and id < end_id
     ), day as (
       select min(transaction_date) as first_day, max(transaction_date) as last_day
       from rated_transaction, bound where tenant_id = :tenantId and id >= first_id and id < end_id
     )
     update usage_archive_month as known set first_at = time.first_at, last_at = time.last_at,
       first_day = day.first_day, last_day = day.last_day
     from time, day where known.tenant_id = :tenantId and known.month = :month::date`,
    { tenantId, month: firstDay(month) },
  );
}

/** From now on it is noted what is written to the partitions of a month; as the platform. */
export async function watchUsagePartitions(platform: Knex, month: string): Promise<void> {
  await platform.raw('select watch_usage_partitions(?::date)', [firstDay(month)]);
}

/** Copies what stays; returns how many rows. */
export async function prepareUsageDrop(
  platform: Knex,
  { month, tenants }: { readonly month: string; readonly tenants: readonly string[] },
): Promise<number> {
  const [row] = await sqlRows<{ kept: number }>(
    platform,
    'select prepare_usage_drop(?::date, ?::text[])::float8 as kept',
    [firstDay(month), [...tenants]],
  );
  return row?.kept ?? 0;
}

/** How `finishUsageDrop` ended; `busy`: somebody works with the tables, so that it is to be tried again. */
export type DropEnd =
  | { readonly kind: 'dropped'; readonly freedBytes: number }
  | { readonly kind: 'changed' | 'refused' | 'busy'; readonly message: string };

/** Replaces the partitions by what stays. All of it in one transaction, under a lock of milliseconds. */
export async function finishUsageDrop(
  platform: Knex,
  { month, tenants }: { readonly month: string; readonly tenants: readonly string[] },
  at: Date,
): Promise<DropEnd> {
  try {
    const [row] = await sqlRows<{ freed: number }>(
      platform,
      'select finish_usage_drop(?::date, ?::text[], ?::timestamptz)::float8 as freed',
      [firstDay(month), [...tenants], at.toISOString()],
    );
    return { kind: 'dropped', freedBytes: row?.freed ?? 0 };
  } catch (error) {
    const state = sqlStateOf(error);
    const message = error instanceof Error ? error.message : String(error);
    if (state === refusedState) return { kind: 'refused', message };
    if (state === changedState) return { kind: 'changed', message };
    const isBusy = state === sqlState.lockNotAvailable || state === sqlState.deadlock;
    if (isBusy) return { kind: 'busy', message };
    throw error;
  }
}

/** Removes what was copied for a drop that is not finished. */
export async function abandonUsageDrop(platform: Knex, month: string): Promise<void> {
  await platform.raw('select abandon_usage_drop(?::date)', [firstDay(month)]);
}

/** Whether the rows of a month are in the archive alone. */
export async function isMonthDropped(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<boolean> {
  const [row] = await sqlRows<{ isDropped: boolean }>(
    db,
    `select dropped_at is not null as "isDropped" from usage_archive_month
     where tenant_id = ? and month = ?::date`,
    [tenantId, firstDay(month)],
  );
  return row?.isDropped === true;
}

/** Tenants whose month is archived and still in the database; as the platform sees them. */
export async function listDroppableTenants(platform: Knex, month: string): Promise<string[]> {
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `select tenant_id as "tenantId" from usage_archive_month
     where month = ?::date and state = 'complete' and dropped_at is null order by tenant_id`,
    [firstDay(month)],
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** The database has the rows of a month again. */
export async function markRestored(trx: Knex, { tenantId, month }: UsageArchive): Promise<void> {
  await trx.raw(
    `update usage_archive_month set dropped_at = null where tenant_id = ? and month = ?::date`,
    [tenantId, firstDay(month)],
  );
}

interface KnownColumn {
  readonly name: string;
  readonly type: string;
}

/** SQL for the value of a column that a line of the archive has at a place. */
function archivedValueSql({ type }: KnownColumn, place: number): string {
  const text = `(line ->> ${place})`;
  return type.startsWith('timestamp') ? `(${text} || 'Z')::${type}` : `${text}::${type}`;
}

/** Rows of a table as the archive has them, each a line. */
export interface ArchivedRows {
  readonly kind: ArchivedKind;
  readonly columns: readonly ParquetColumn[];
  readonly lines: readonly string[];
}

/**
 * Puts archived rows back into the partition of their month, where they are not there: past the triggers
 * of the whole, for what they keep (totals, lists, tallies, what is billed) has them counted. Returns
 * how many were put.
 */
export async function insertArchivedRows(
  trx: Knex,
  { tenantId, month }: UsageArchive,
  { kind, columns, lines }: ArchivedRows,
): Promise<number> {
  if (lines.length === 0) return 0;
  const known = await sqlRows<KnownColumn & { partition: string | null }>(
    trx,
    `select quote_ident(attname) as name, format_type(atttypid, atttypmod) as type,
       quote_ident(usage_partition_at(:kind, (:month::date)::timestamp at time zone 'UTC')) as partition
     from pg_attribute
     where attrelid = ('public.' || :kind::text)::regclass and attnum > 0 and not attisdropped
       and attname = any(:names::text[])`,
    { kind, month: firstDay(month), names: columns.map(({ name }) => name) },
  );
  const partition = known[0]?.partition;
  if (partition === undefined || partition === null) {
    throw new Error(`The month ${month} has no partition.`);
  }
  const byName = new Map(known.map((column) => [column.name.replaceAll('"', ''), column]));
  const placed = columns.flatMap(({ name }, place) => {
    const column = byName.get(name);
    return column === undefined ? [] : [{ column, place }];
  });
  const [row] = await sqlRows<{ put: number }>(
    trx,
    `with put as (
       insert into public.${partition} (tenant_id, ${placed.map(({ column }) => column.name).join(', ')})
       select ?, ${placed.map(({ column, place }) => archivedValueSql(column, place)).join(', ')}
       from unnest(?::text[]) as given (text) cross join lateral (select text::json) as read (line)
       on conflict do nothing returning 1
     ) select count(*)::integer as put from put`,
    [tenantId, [...lines]],
  );
  return row?.put ?? 0;
}
