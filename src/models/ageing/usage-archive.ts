import type { Knex } from 'knex';
import {
  archivedKinds,
  type ArchivedKind,
  type ArchivedMonth,
  type ArchiveFile,
  type ArchivePlace,
  type UsageArchive,
} from '../../messages/ageing/usage-archive.js';
import type { ParquetColumn } from '../../messages/parquet.js';
import { problem } from '../../kernel/problem.js';
import { sqlRows } from '../db/sql-rows.js';

/** Rows of one file: one row group of Parquet, some megabytes. */
const fileRowsMax = 50_000;

/** Types of PostgreSQL that Parquet has as such; all others are archived as their text, exactly. */
const parquetTypes: Readonly<Record<string, ParquetColumn['type']>> = {
  int4: 'integer',
  int8: 'integer',
  bool: 'boolean',
  date: 'date',
  timestamptz: 'instant',
};

/** SQL for the value of a column in a line of JSON. */
function valueSql({ name, type }: ParquetColumn): string {
  const column = `t."${name}"`;
  if (type === 'instant') {
    return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;
  }
  return type === 'integer' || type === 'boolean' ? column : `${column}::text`;
}

/**
 * Rejected events stay: they may be rated again. All others, and charges, change no more unless
 * something is corrected.
 */
const archivedSql: Readonly<Record<ArchivedKind, string>> = {
  usage_event: `t.status <> 'rejected'`,
  rated_transaction: 'true',
};

/** The columns of a table, all but the tenant, the id first. */
export async function readArchiveColumns(db: Knex, kind: ArchivedKind): Promise<ParquetColumn[]> {
  const rows = await sqlRows<{ name: string; type: string; isNullable: boolean }>(
    db,
    `select attname as name, typname as type, not attnotnull as "isNullable"
     from pg_attribute join pg_type on pg_type.oid = atttypid
     where attrelid = ('public.' || ?::text)::regclass and attnum > 0 and not attisdropped
       and attname <> 'tenant_id'
     order by attname <> 'id', attnum`,
    [kind],
  );
  return rows.map(({ name, type, isNullable }) => ({
    name,
    type: parquetTypes[type] ?? 'text',
    isNullable,
  }));
}

/** Rows of a month from a place on, in the order of their ids. */
export interface ArchiveRows {
  readonly rows: number;
  readonly firstId: string | null;
  readonly lastId: string | null;
  /** A JSON array for each, in lines. */
  readonly lines: string;
}

/** Up to the row of an id, or as many as a file has. */
export async function readArchiveRows(
  db: Knex,
  { tenantId, month }: UsageArchive,
  {
    kind,
    after,
    through,
    columns,
    among = null,
  }: ArchivePlace & {
    readonly through: string | null;
    readonly columns: readonly ParquetColumn[];
    /** Only rows with these ids; null: all. */
    readonly among?: readonly string[] | null;
  },
): Promise<ArchiveRows> {
  const [row] = await sqlRows<Omit<ArchiveRows, 'lines'> & { lines: string | null }>(
    db,
    `select count(*)::integer as rows, string_agg(line, chr(10) order by id) as lines,
       (array_agg(id order by id))[1] as "firstId", (array_agg(id order by id desc))[1] as "lastId"
     from (
       select t.id, json_build_array(${columns.map(valueSql).join(', ')})::text as line
       from ${kind} as t
       where t.tenant_id = :tenantId and ${archivedSql[kind]}
         and t.id >= uuid_at((:month::date)::timestamp at time zone 'UTC')
         and t.id < uuid_at((:month::date + interval '1 month') at time zone 'UTC')
         and (:after::uuid is null or t.id > :after::uuid)
         and (:through::uuid is null or t.id <= :through::uuid)
         and (:among::uuid[] is null or t.id = any(:among::uuid[]))
       order by t.id limit :limit
     ) as line`,
    {
      tenantId,
      month: `${month}-01`,
      after,
      through,
      among,
      // One more than a file has tells that rows have come between those of a file.
      limit: through === null ? fileRowsMax : 2 * fileRowsMax,
    },
  );
  const { rows = 0, firstId = null, lastId = null } = row ?? {};
  return { rows, firstId, lastId, lines: row?.lines ?? '' };
}

/** A file of the archive with the rows that it has: those behind `after` up to `lastId`. */
export interface ArchivePart extends ArchiveFile {
  readonly kind: ArchivedKind;
  readonly after: string | null;
  readonly firstId: string;
  readonly lastId: string;
}

/** SQL for the columns of `ArchivePart`. */
export const partColumns = `kind, after_id as "after", first_id as "firstId", last_id as "lastId", rows,
  bytes::float8 as bytes, file, file_sha256 as "fileSha256", rows_sha256 as "rowsSha256", columns`;

/** The files of a month in the order of their rows. */
export function listArchiveParts(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<ArchivePart[]> {
  return sqlRows<ArchivePart>(
    db,
    `select ${partColumns} from usage_archive where tenant_id = ? and month = ?::date
     order by kind desc, last_id`,
    [tenantId, `${month}-01`],
  );
}

/** The file whose rows begin behind a place. */
export async function findArchivePart(
  db: Knex,
  { tenantId, month }: UsageArchive,
  { kind, after }: ArchivePlace,
): Promise<ArchivePart | undefined> {
  const [part] = await sqlRows<ArchivePart>(
    db,
    `select ${partColumns} from usage_archive
     where tenant_id = ? and month = ?::date and kind = ? and after_id is not distinct from ?::uuid
     order by last_id limit 1`,
    [tenantId, `${month}-01`, kind, after],
  );
  return part;
}

const droppedMessage = (month: string): string =>
  `The usage of ${month} is in the archive alone: 'durabill archive restore' brings it back.`;

const leastId = '00000000-0000-0000-0000-000000000000';

/**
 * Forgets files with rows behind a place up to another; null: to the end. 409: the database has the month
 * no more, so that it cannot say what is in them.
 */
export async function removeArchiveParts(
  trx: Knex,
  { tenantId, month }: UsageArchive,
  { kind, after }: ArchivePlace,
  through: string | null,
): Promise<void> {
  // Locked until the commit: a drop at this moment waits, or is seen.
  const [known] = await sqlRows<{ isDropped: boolean }>(
    trx,
    `select dropped_at is not null as "isDropped" from usage_archive_month
     where tenant_id = ? and month = ?::date for update`,
    [tenantId, `${month}-01`],
  );
  if (known?.isDropped === true) throw problem.conflict(droppedMessage(month));
  await trx.raw(
    `delete from usage_archive
     where tenant_id = ? and month = ?::date and kind = ? and last_id > ?::uuid
       and (?::uuid is null or coalesce(after_id, ?::uuid) < ?::uuid)`,
    [tenantId, `${month}-01`, kind, after ?? leastId, through, leastId, through] as Knex.Value[],
  );
}

export async function insertArchivePart(
  trx: Knex,
  { tenantId, month }: UsageArchive,
  { columns, ...part }: ArchivePart,
  checkedAt: Date,
): Promise<void> {
  await trx.raw(
    `insert into usage_archive (tenant_id, month, kind, after_id, first_id, last_id, rows, bytes, file,
       file_sha256, rows_sha256, columns, checked_at)
     values (:tenantId, :month::date, :kind, :after, :firstId, :lastId, :rows, :bytes, :file,
       :fileSha256, :rowsSha256, :columns::jsonb, :checkedAt)`,
    {
      ...part,
      tenantId,
      month: `${month}-01`,
      columns: JSON.stringify(columns),
      checkedAt,
    } as Record<string, Knex.Value>,
  );
}

/** Says how far a month's archive is, with what its files have. */
export async function markArchiveMonth(
  trx: Knex,
  { tenantId, month }: UsageArchive,
  {
    state,
    difference = null,
  }: Pick<ArchivedMonth, 'state'> & { readonly difference?: string | null },
  at: Date,
): Promise<void> {
  await trx.raw(
    `insert into usage_archive_month
       (tenant_id, month, state, events, charges, bytes, difference, updated_at)
     select :tenantId, :month::date, :state,
       coalesce(sum(rows) filter (where kind = 'usage_event'), 0),
       coalesce(sum(rows) filter (where kind = 'rated_transaction'), 0), coalesce(sum(bytes), 0),
       :difference, :at
     from usage_archive where tenant_id = :tenantId and month = :month::date
     on conflict (tenant_id, month) do update set state = excluded.state, events = excluded.events,
       charges = excluded.charges, bytes = excluded.bytes, difference = excluded.difference,
       updated_at = excluded.updated_at
     where excluded.state <> 'writing' or usage_archive_month.dropped_at is null`,
    { tenantId, month: `${month}-01`, state, difference, at } as Record<string, Knex.Value>,
  );
}

/** In how many rows the files of a month and the database differ; null: both have as many. */
export async function findMonthDifference(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<string | null> {
  for (const kind of archivedKinds) {
    const [row] = await sqlRows<{ archived: string; known: string }>(
      db,
      `select (select coalesce(sum(rows), 0) from usage_archive
           where tenant_id = :tenantId and month = :month::date and kind = :kind) as archived,
         (select count(*) from ${kind} as t
           where t.tenant_id = :tenantId and ${archivedSql[kind]}
             and t.id >= uuid_at((:month::date)::timestamp at time zone 'UTC')
             and t.id < uuid_at((:month::date + interval '1 month') at time zone 'UTC')) as known`,
      { tenantId, month: `${month}-01`, kind },
    );
    if (row && row.archived !== row.known) {
      return `there are ${row.known} rows of ${kind}, and ${row.archived} in the archive`;
    }
  }
  return null;
}

/** Whether an archive of a month was ever begun. */
export async function isMonthArchived(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<boolean> {
  const rows = await sqlRows(
    db,
    'select from usage_archive_month where tenant_id = ? and month = ?::date',
    [tenantId, `${month}-01`],
  );
  return rows.length > 0;
}

/** The months of a tenant that are archived, the oldest first. */
export function listArchiveMonths(db: Knex, tenantId: string): Promise<ArchivedMonth[]> {
  return sqlRows<ArchivedMonth>(
    db,
    `select to_char(month, 'YYYY-MM') as month, state, events::float8 as events,
       charges::float8 as charges, bytes::float8 as bytes, difference,
       dropped_at is not null as "isDropped"
     from usage_archive_month where tenant_id = ? order by usage_archive_month.month`,
    [tenantId],
  );
}

/** How many months of all tenants are in each state; read with the platform's handle. */
export function countArchiveMonths(
  platform: Knex,
): Promise<{ state: ArchivedMonth['state']; count: number }[]> {
  return sqlRows(
    platform,
    'select state, count(*)::integer as count from usage_archive_month group by state',
  );
}

/** Why a month cannot be archived yet; null: it can. */
export async function findArchiveObstacle(
  db: Knex,
  { tenantId, month }: UsageArchive,
): Promise<string | null> {
  const [row] = await sqlRows<{
    isDropped: boolean;
    isOver: boolean;
    isMoving: boolean;
    waits: boolean;
  }>(
    db,
    `select exists (
         select from usage_archive_month where tenant_id = :tenantId and month = :month::date
           and dropped_at is not null
       ) as "isDropped", now() >= (:month::date + interval '1 month 1 day') at time zone 'UTC' as "isOver",
       exists (
         select from fact_move where tenant_id = :tenantId and done_at is null
           and kind in ('priced rows', 'messages')
       ) as "isMoving",
       exists (
         select from usage_consumer as consumer join usage_message as message
           on message.tenant_id = consumer.tenant_id and message.partition = consumer.partition
           and message.end_offset > consumer.next_offset
         where consumer.tenant_id = :tenantId
           and message.received_at < (:month::date + interval '1 month') at time zone 'UTC'
       ) as waits`,
    { tenantId, month: `${month}-01` },
  );
  if (row?.isDropped === true) {
    return droppedMessage(month);
  }
  if (row?.isOver !== true) return `The month ${month} is not over for a day yet.`;
  if (row.isMoving) {
    return "Facts of an earlier version are still being moved: 'durabill projections status' says how far that is.";
  }
  return row.waits ? `Usage that was received in ${month} is not rated yet.` : null;
}
