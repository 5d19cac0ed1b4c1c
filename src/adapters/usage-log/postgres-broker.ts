import type { Knex } from 'knex';
import { arrayLiteral, joinGroups, splitGroupsSql } from '../../kernel/text/postgres-array.js';
import {
  newestBytesMax,
  usageTopic,
  type NewestRecords,
  type PartitionOffset,
  type UsageLogReader,
  type UsageSlice,
} from '../../messages/usage-log.js';
import {
  partitionOf,
  type Published,
  type UsageBroker,
  type UsageMessage,
  type WaitingPartition,
} from '../../messages/broker.js';
import {
  groupCountMax,
  groupsOf,
  groupTexts,
  recordsOf,
  type GroupRow,
} from '../../messages/usage-message-group.js';
import type { Database } from '../../platform/database/database.js';
import { listen } from '../../platform/database/listen.js';
import type { Logger } from '../../platform/log.js';
import { inGroups, type PublishOptions } from './publishing.js';

const channel = 'usage_published';

/** What one statement may carry: beyond it the next group starts. */
const groupMessagesMax = 2_000;
const groupBytesMax = 64 * 1024 * 1024;

/** What one read may hold in memory: events of up to 1 MiB may stand in a row. */
const readBytesMax = 8 * 1024 * 1024;

/**
 * Assigns offsets and writes the messages in one statement, so that offsets have no gaps and become
 * visible in order: the row of a partition stays locked until its messages are committed. `back` is
 * the distance of the first message of a row from the end of its partition.
 */
const publishSql = `
  with taken as (
    insert into broker_partition (tenant_id, partition, next_offset)
    select * from unnest(?::text[], ?::int[], ?::bigint[])
    on conflict (tenant_id, partition)
      do update set next_offset = broker_partition.next_offset + excluded.next_offset
    returning tenant_id, partition, next_offset
  ), written as (
    insert into usage_message
      (tenant_id, partition, first_offset, end_offset, keys, org_ids, traces, messages)
    select tenant_id, partition, taken.next_offset - input.back,
      taken.next_offset - input.back + input.count, nullif(input.keys, ''),
      nullif(input.org_ids, ''), nullif(input.traces, ''), input.messages
    from unnest(?::text[], ?::int[], ?::int[], ?::int[], ${splitGroupsSql}, ${splitGroupsSql},
        ${splitGroupsSql}, ${splitGroupsSql})
      as input (tenant_id, partition, back, count, keys, org_ids, traces, messages)
      join taken using (tenant_id, partition)
  )
  select tenant_id, partition, next_offset, pg_notify('${channel}', '') from taken`;

/** The messages of one partition in a group, and where they end in the log. */
interface Slot {
  readonly tenantId: string;
  readonly partition: number;
  readonly topic: string;
  readonly messages: UsageMessage[];
  end: number;
}

const slotOrder = (a: Slot, b: Slot): number =>
  a.tenantId === b.tenantId ? a.partition - b.partition : a.tenantId < b.tenantId ? -1 : 1;

/** The rows of `usage_message` for a slot, as the columns of `input`. */
function rowsOf({ tenantId, partition, messages }: Slot) {
  let back = messages.length;
  return groupsOf(messages).map((group) => {
    const row = { tenantId, partition, back, count: group.length, ...groupTexts(group) };
    back -= group.length;
    return row;
  });
}

async function publishGroup(db: Knex, messages: readonly UsageMessage[]): Promise<Published[]> {
  const slots = new Map<string, Slot>();
  const placed = messages.map((message) => {
    const { tenantId, partitionKey } = message;
    const partition = partitionOf(partitionKey);
    const key = `${partition}/${tenantId}`;
    let slot = slots.get(key);
    if (!slot) {
      slot = { tenantId, partition, topic: usageTopic(tenantId), messages: [], end: 0 };
      slots.set(key, slot);
    }
    return { slot, place: slot.messages.push(message) };
  });
  // Locked in one order, to avoid deadlocks of two processes.
  const sorted = [...slots.values()].sort(slotOrder);
  const written = sorted.flatMap(rowsOf);
  const { rows } = await db.raw<{
    rows: { tenant_id: string; partition: number; next_offset: string }[];
  }>(publishSql, [
    arrayLiteral(
      sorted.map(({ tenantId }) => tenantId),
      true,
    ),
    arrayLiteral(sorted.map(({ partition }) => partition)),
    arrayLiteral(sorted.map((slot) => slot.messages.length)),
    arrayLiteral(
      written.map(({ tenantId }) => tenantId),
      true,
    ),
    arrayLiteral(written.map(({ partition }) => partition)),
    arrayLiteral(written.map(({ back }) => back)),
    arrayLiteral(written.map(({ count }) => count)),
    joinGroups(written.map(({ keys }) => keys)),
    joinGroups(written.map(({ orgIds }) => orgIds)),
    joinGroups(written.map(({ traces }) => traces)),
    joinGroups(written.map((row) => row.messages)),
  ]);
  for (const row of rows) {
    const slot = slots.get(`${row.partition}/${row.tenant_id}`);
    if (slot) slot.end = Number(row.next_offset);
  }
  return placed.map(({ slot, place }) => ({
    topic: slot.topic,
    partition: slot.partition,
    offset: slot.end - slot.messages.length + place - 1,
  }));
}

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

function logReader(db: Knex): UsageLogReader {
  return {
    async ends(tenantId) {
      const rows = await db('brokerPartition')
        .select<{ partition: number; nextOffset: string }[]>('partition', 'nextOffset')
        .where({ tenantId });
      return rows.map(({ partition, nextOffset }) => ({ partition, offset: Number(nextOffset) }));
    },
    async readOne(tenantId, partition, offset) {
      const range = { tenantId, partition, offset, end: offset + 1 };
      return (await readRange(db, range)).records[0];
    },
    readNewest: (...asked) => readNewest(db, ...asked),
  };
}

/** The usage log in PostgreSQL: tables `broker_partition` and `usage_message`; `broker_record` has what
 * earlier versions have published. */
export function openPostgresBroker(
  database: Database,
  directDatabaseUrl: string,
  options: PublishOptions & { readonly log: Logger },
): UsageBroker {
  const db = database.platform;
  const publishAll = inGroups((messages) => publishGroup(db, messages), {
    messagesMax: groupMessagesMax,
    bytesMax: groupBytesMax,
    ...options,
  });
  return {
    keepsMessages: true,
    publishAll,
    async publish(message) {
      const [published] = await publishAll([message]);
      return published as Published;
    },
    read: (tenantId, partition, offset, end) => readRange(db, { tenantId, partition, offset, end }),
    firstKept: (...place) => findFirstKept(db, ...place),
    ...logReader(db),
    async openIntake(onPublished) {
      const stop = await listen(directDatabaseUrl, channel, onPublished, options.log);
      return { waiting: () => findWaiting(db), close: stop };
    },
    async ping() {
      await db('brokerPartition').first(db.raw('1'));
    },
    close: () => Promise.resolve(),
  };
}
