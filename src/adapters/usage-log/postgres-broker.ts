import type { Knex } from 'knex';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import {
  newestBytesMax,
  type NewestRecords,
  type PartitionOffset,
  type UsageLogReader,
  type UsageSlice,
} from '../../messages/usage-log.js';
import type { Published, UsageBroker, WaitingPartition } from '../../messages/broker.js';
import {
  groupCountMax,
  recordsOf,
  type GroupRow,
} from '../../messages/usage/usage-message-group.js';
import type { Database } from '../../platform/database/database.js';
import { CellAsker } from '../../platform/cells/ask-cells.js';
import type { Listen } from '../../platform/database/listen.js';
import type { Logger } from '../../platform/log.js';
import { publishedChannel, publishToCells } from './postgres-publisher.js';
import type { PublishOptions } from './publish-in-groups.js';

/** What one read may hold in memory: events of up to 1 MiB may stand in a row. */
const readBytesMax = 8 * 1024 * 1024;

const groupColumns = `first_offset as "firstOffset", messages, keys, org_ids as "orgIds", traces,
  received_at as "receivedAt"`;

/** A record of an earlier version in the form of a row of `usage_message`. */
const oldRecordSql = `
  select tenant_id, partition, "offset" as first_offset, "offset" + 1 as end_offset,
    message as messages, json_build_array(key)::text as keys,
    json_build_array(org_id)::text as org_ids, json_build_array(trace)::text as traces, received_at
  from broker_record`;

/** Where the row that holds an offset begins, if there is one: the last one that begins before it. */
const beginSql = `coalesce((
    select max(first_offset) from usage_message
    where tenant_id = :tenantId and partition = :partition and first_offset <= :offset
  ), 0)`;

async function readRange(db: Knex, range: WaitingPartition): Promise<UsageSlice> {
  const { offset, end } = range;
  const { rows } = await db.raw<{ rows: GroupRow[] }>(
    `select ${groupColumns} from (
       select *, sum(octet_length(messages)) over (order by first_offset) as bytes from (
         ${oldRecordSql} where tenant_id = :tenantId and partition = :partition
           and "offset" >= :offset and "offset" < :end
         union all
         select tenant_id, partition, first_offset, end_offset, messages, keys, org_ids, traces,
           received_at
         from usage_message
         where tenant_id = :tenantId and partition = :partition and first_offset >= ${beginSql}
           and first_offset < :end and end_offset > :offset
       ) as message_group
     ) as weighed where bytes <= :readBytesMax or first_offset <= :offset order by first_offset`,
    { ...range, readBytesMax },
  );
  // The offsets of this log have no gaps, unless somebody has removed records.
  const kept = rows
    .flatMap(recordsOf)
    .filter((record) => record.offset >= offset && record.offset < end);
  const gap = kept.findIndex((record, index) => record.offset !== offset + index);
  const records = gap < 0 ? kept : kept.slice(0, gap);
  return { records, nextOffset: offset + records.length };
}

async function findFirstKept(
  db: Knex,
  tenantId: string,
  partition: number,
  offset: number,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { kept: string | null }[] }>(
    `select coalesce(
       (select min(kept) from (
          select min("offset") as kept from broker_record
          where tenant_id = :tenantId and partition = :partition and "offset" >= :offset
          union all
          select min(first_offset) from usage_message
          where tenant_id = :tenantId and partition = :partition
            and first_offset >= ${beginSql} and end_offset > :offset
        ) as found),
       log.next_offset
     ) as kept
     from broker_partition as log where tenant_id = :tenantId and partition = :partition`,
    { tenantId, partition, offset },
  );
  return Math.max(offset, Number(rows[0]?.kept ?? offset));
}

async function findWaiting(db: Knex): Promise<WaitingPartition[]> {
  const rows = await db('brokerPartition as log')
    .leftJoin('usageConsumer as consumer', (join) =>
      join.on('consumer.tenantId', 'log.tenantId').andOn('consumer.partition', 'log.partition'),
    )
    .whereRaw('log.next_offset > coalesce(consumer.next_offset, 0)')
    // What is copied here is rated where the tenant is.
    .whereNotExists((fence) => {
      void fence.from('tenantFence').whereRaw('tenant_id = log.tenant_id');
    })
    .select<(Record<keyof WaitingPartition, string> & { partition: number })[]>(
      'log.tenantId',
      'log.partition',
      'log.nextOffset as end',
      db.raw('coalesce(consumer.next_offset, 0) as "offset"'),
    );
  return rows.map(({ tenantId, partition, offset, end }) => ({
    tenantId,
    partition,
    offset: Number(offset),
    end: Number(end),
  }));
}

/** Times of the rows that hold these places: none begins `groupCountMax` or more before what it holds. */
const receiptSql = `
  select min(found.received_at) as "receivedAt"
  from unnest(:partitions::int[], :offsets::bigint[]) as given (at_partition, at_offset)
  cross join lateral (
    select received_at from broker_record
    where tenant_id = :tenantId and partition = at_partition and "offset" = at_offset
    union all
    select received_at from usage_message
    where tenant_id = :tenantId and partition = at_partition and first_offset <= at_offset
      and first_offset > at_offset - ${groupCountMax} and end_offset > at_offset
  ) as found`;

async function findOldestReceipt(
  db: Knex,
  tenantId: string,
  places: readonly PartitionOffset[],
): Promise<Date | null> {
  const { rows } = await db.raw<{ rows: { receivedAt: Date | null }[] }>(receiptSql, {
    tenantId,
    partitions: arrayLiteral(places.map(({ partition }) => partition)),
    offsets: arrayLiteral(places.map(({ offset }) => offset)),
  });
  return rows[0]?.receivedAt ?? null;
}

/** A row of the log that a page may show, and how many messages stand before it, newest first. */
interface NewestGroup {
  readonly partition: number;
  readonly firstOffset: string;
  readonly skipped: string;
  readonly isFitting: boolean;
}

/**
 * The rows of the log with messages of a page, newest first. `total` counts the messages up to a row,
 * `bytes` those of the rows of the page before it. Rows that hold a text may hold other messages
 * besides: of them all are chosen that a page may need.
 */
const newestGroupsSql = (isSearched: boolean): string => `
  with source as (
    select given.from_offset, found.*
    from unnest(:partitions::int[], :offsets::bigint[]) as given (partition, from_offset)
    cross join lateral (
      ${oldRecordSql} where tenant_id = :tenantId and partition = given.partition
        and "offset" >= given.from_offset
      union all
      select tenant_id, partition, first_offset, end_offset, messages, keys, org_ids, traces,
        received_at
      from usage_message
      where tenant_id = :tenantId and partition = given.partition
        and first_offset > given.from_offset - ${groupCountMax} and end_offset > given.from_offset
    ) as found
    ${isSearched ? 'where strpos(messages, :containing) > 0' : ''}
  ),
  counted as (
    select partition, first_offset, received_at, octet_length(messages) as size,
      end_offset - greatest(first_offset, from_offset) as own,
      sum(end_offset - greatest(first_offset, from_offset)) over newest as total
    from source window newest as (order by received_at desc, partition desc, first_offset desc)
  ),
  chosen as (
    select *, sum(size) over (order by received_at desc, partition desc, first_offset desc) as bytes
    from counted
    where ${isSearched ? 'true' : 'total > :offset and total - own < :offset::bigint + :limit'}
    order by received_at desc, partition desc, first_offset desc limit :offset::bigint + :limit
  )
  select partition, first_offset as "firstOffset", total - own as skipped,
    bytes - size < ${newestBytesMax} as "isFitting"
  from chosen`;

const readGroupsSql = `
  select found.partition, ${groupColumns}
  from unnest(:partitions::int[], :firsts::bigint[]) as given (at_partition, at_first)
  cross join lateral (
    ${oldRecordSql} where tenant_id = :tenantId and partition = at_partition and "offset" = at_first
    union all
    select tenant_id, partition, first_offset, end_offset, messages, keys, org_ids, traces, received_at
    from usage_message
    where tenant_id = :tenantId and partition = at_partition and first_offset = at_first
  ) as found`;

async function readNewest(
  db: Knex,
  tenantId: string,
  from: readonly PartitionOffset[],
  { limit, offset, containing }: Parameters<UsageLogReader['readNewest']>[2],
): Promise<NewestRecords> {
  if (from.length === 0) return { records: [], isCut: false };
  const { rows: found } = await db.raw<{ rows: NewestGroup[] }>(
    newestGroupsSql(containing !== undefined),
    {
      tenantId,
      limit,
      offset,
      ...(containing === undefined ? {} : { containing }),
      partitions: arrayLiteral(from.map(({ partition }) => partition)),
      offsets: arrayLiteral(from.map((each) => each.offset)),
    },
  );
  const groups = found.filter(({ isFitting }) => isFitting);
  const { rows } = await db.raw<{ rows: (GroupRow & { partition: number })[] }>(readGroupsSql, {
    tenantId,
    partitions: arrayLiteral(groups.map(({ partition }) => partition)),
    firsts: arrayLiteral(groups.map(({ firstOffset }) => firstOffset)),
  });
  const begins = new Map(from.map((each) => [each.partition, each.offset]));
  const keyOf = (row: { partition: number; firstOffset: string }) =>
    `${row.partition}/${row.firstOffset}`;
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  const records = groups
    .flatMap((group) => {
      const row = byKey.get(keyOf(group));
      const own = row ? recordsOf(row).reverse() : [];
      return own.map((record) => ({ ...record, partition: group.partition }));
    })
    .filter(({ partition, offset: at }) => at >= (begins.get(partition) ?? 0))
    .filter(({ message }) => containing === undefined || message.includes(containing));
  const start = containing === undefined ? offset - Number(groups[0]?.skipped ?? 0) : offset;
  const page = records.slice(start, start + limit);
  let bytes = 0;
  const cut = page.findIndex(({ message }, index) => {
    bytes += Buffer.byteLength(message);
    return index > 0 && bytes > newestBytesMax;
  });
  const isWhole = groups.length === found.length || page.length === limit;
  return { records: cut < 0 ? page : page.slice(0, cut), isCut: cut >= 0 || !isWhole };
}

/** The database that a tenant's log is in. */
type DatabaseOf = (tenantId: string) => Promise<Knex>;

function logReader(databaseOf: DatabaseOf): UsageLogReader {
  return {
    async ends(tenantId) {
      const db = await databaseOf(tenantId);
      const rows = await db('brokerPartition')
        .select<{ partition: number; nextOffset: string }[]>('partition', 'nextOffset')
        .where({ tenantId });
      return rows.map(({ partition, nextOffset }) => ({ partition, offset: Number(nextOffset) }));
    },
    async readOne(tenantId, partition, offset) {
      const range = { tenantId, partition, offset, end: offset + 1 };
      return (await readRange(await databaseOf(tenantId), range)).records[0];
    },
    oldestReceipt: async (tenantId, places) =>
      findOldestReceipt(await databaseOf(tenantId), tenantId, places),
    readNewest: async (tenantId, ...asked) =>
      readNewest(await databaseOf(tenantId), tenantId, ...asked),
  };
}

/** The usage log in PostgreSQL: tables `broker_partition` and `usage_message`; `broker_record` has what
 * earlier versions have published. */
export function openPostgresBroker(
  database: Database,
  listen: Listen,
  options: PublishOptions & { readonly log: Logger },
): UsageBroker {
  const publishAll = publishToCells(database, options);
  const databaseOf: DatabaseOf = async (tenantId) => (await database.cellOf(tenantId)).platform;
  return {
    keepsMessages: true,
    publishAll,
    async publish(message) {
      const [published] = await publishAll([message]);
      return published as Published;
    },
    read: async (tenantId, partition, offset, end) =>
      readRange(await databaseOf(tenantId), { tenantId, partition, offset, end }),
    firstKept: async (tenantId, ...place) =>
      findFirstKept(await databaseOf(tenantId), tenantId, ...place),
    ...logReader(databaseOf),
    async openIntake(onPublished) {
      const stop = await listen(publishedChannel, () => onPublished());
      const asker = new CellAsker(database.cells, {
        log: options.log,
        failure: 'a cell does not say what usage waits; going on without it',
      });
      const waiting = async (): Promise<WaitingPartition[]> => {
        const found = await asker.ask(database.cells, ({ platform }) => findWaiting(platform));
        const [first] = found;
        if (database.cells.length === 1) return first?.answer ?? [];
        return found.flatMap(({ cell, answer }) =>
          answer.map((each) => ({ ...each, cell: cell.name })),
        );
      };
      return { waiting, close: stop };
    },
    async ping() {
      await database.platform('brokerPartition').first(database.platform.raw('1'));
    },
    close: () => Promise.resolve(),
  };
}
