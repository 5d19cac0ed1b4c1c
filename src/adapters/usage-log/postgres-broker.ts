import type { Knex } from 'knex';
import { arrayLiteral, joinJson, splitJsonSql } from '../../kernel/text/postgres-array.js';
import {
  newestBytesMax,
  usageTopic,
  type UsageLogReader,
  type UsageRecord,
  type UsageSlice,
} from '../../messages/usage-log.js';
import {
  partitionOf,
  type Published,
  type UsageBroker,
  type UsageMessage,
  type WaitingPartition,
} from '../../messages/broker.js';
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
 * Assigns offsets and writes the records in one statement, so that offsets have no gaps and become
 * visible in order: the row of a partition stays locked until its records are committed. `back` is
 * the distance of a record from the end of its partition.
 */
const publishSql = `
  with taken as (
    insert into broker_partition (tenant_id, partition, next_offset)
    select * from unnest(?::text[], ?::int[], ?::bigint[])
    on conflict (tenant_id, partition)
      do update set next_offset = broker_partition.next_offset + excluded.next_offset
    returning tenant_id, partition, next_offset
  ), written as (
    insert into broker_record (tenant_id, partition, "offset", key, org_id, trace, message)
    select tenant_id, partition, taken.next_offset - input.back,
      input.key, input.org_id, input.trace, input.message
    from unnest(?::text[], ?::int[], ?::int[], ?::text[], ?::text[], ?::text[], ${splitJsonSql})
      as input (tenant_id, partition, back, key, org_id, trace, message)
      join taken using (tenant_id, partition)
  )
  select tenant_id, partition, next_offset, pg_notify('${channel}', '') from taken`;

/** The messages of one partition in a group, and where they end in the log. */
interface Slot {
  readonly tenantId: string;
  readonly partition: number;
  readonly topic: string;
  count: number;
  end: number;
}

const slotOrder = (a: Slot, b: Slot): number =>
  a.tenantId === b.tenantId ? a.partition - b.partition : a.tenantId < b.tenantId ? -1 : 1;

async function publishGroup(db: Knex, messages: readonly UsageMessage[]): Promise<Published[]> {
  const slots = new Map<string, Slot>();
  const placed = messages.map(({ tenantId, partitionKey }) => {
    const partition = partitionOf(partitionKey);
    const key = `${partition}/${tenantId}`;
    let slot = slots.get(key);
    if (!slot) {
      slot = { tenantId, partition, topic: usageTopic(tenantId), count: 0, end: 0 };
      slots.set(key, slot);
    }
    slot.count += 1;
    return { slot, place: slot.count };
  });
  const messagesText = joinJson(messages.map(({ message }) => message));
  if (messagesText === null) throw new Error('A message is no JSON text.');
  // Locked in one order, to avoid deadlocks of two processes.
  const sorted = [...slots.values()].sort(slotOrder);
  const { rows } = await db.raw<{
    rows: { tenant_id: string; partition: number; next_offset: string }[];
  }>(publishSql, [
    arrayLiteral(
      sorted.map(({ tenantId }) => tenantId),
      true,
    ),
    arrayLiteral(sorted.map(({ partition }) => partition)),
    arrayLiteral(sorted.map(({ count }) => count)),
    arrayLiteral(
      placed.map(({ slot }) => slot.tenantId),
      true,
    ),
    arrayLiteral(placed.map(({ slot }) => slot.partition)),
    arrayLiteral(placed.map(({ slot, place }) => slot.count - place + 1)),
    arrayLiteral(
      messages.map(({ key }) => key),
      true,
    ),
    arrayLiteral(
      messages.map(({ orgId }) => orgId),
      true,
    ),
    // Shorter arrays are filled up with null.
    arrayLiteral(
      messages.some(({ trace }) => trace) ? messages.map(({ trace }) => trace ?? null) : [],
      true,
    ),
    messagesText,
  ]);
  for (const row of rows) {
    const slot = slots.get(`${row.partition}/${row.tenant_id}`);
    if (slot) slot.end = Number(row.next_offset);
  }
  return placed.map(({ slot, place }) => ({
    topic: slot.topic,
    partition: slot.partition,
    offset: slot.end - slot.count + place - 1,
  }));
}

type RecordRow = Omit<UsageRecord, 'offset'> & { readonly offset: string };

const recordOf = <R extends RecordRow>(row: R) => ({ ...row, offset: Number(row.offset) });

const recordColumns = ['offset', 'key', 'orgId', 'message', 'receivedAt'] as const;

async function readRange(db: Knex, range: WaitingPartition): Promise<UsageSlice> {
  const { tenantId, partition, offset, end } = range;
  const { rows } = await db.raw<{ rows: RecordRow[] }>(
    `select "offset", key, org_id as "orgId", message, received_at as "receivedAt", trace from (
       select *, sum(octet_length(message)) over (order by "offset") as bytes from broker_record
       where tenant_id = ? and partition = ? and "offset" >= ? and "offset" < ?
     ) as record where bytes <= ? or "offset" = ? order by "offset"`,
    [tenantId, partition, offset, end, readBytesMax, offset],
  );
  // The offsets of this log have no gaps, unless somebody has removed records.
  const kept = rows.map(recordOf);
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
       (select min("offset") from broker_record
        where tenant_id = log.tenant_id and partition = log.partition and "offset" >= ?),
       log.next_offset
     ) as kept
     from broker_partition as log where tenant_id = ? and partition = ?`,
    [offset, tenantId, partition],
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

const newestFirst: { column: string; order: 'desc' }[] = [
  { column: 'receivedAt', order: 'desc' },
  { column: 'partition', order: 'desc' },
  { column: 'offset', order: 'desc' },
];

function logReader(db: Knex): UsageLogReader {
  return {
    async ends(tenantId) {
      const rows = await db('brokerPartition')
        .select<{ partition: number; nextOffset: string }[]>('partition', 'nextOffset')
        .where({ tenantId });
      return rows.map(({ partition, nextOffset }) => ({ partition, offset: Number(nextOffset) }));
    },
    async readOne(tenantId, partition, offset) {
      const row = await db('brokerRecord')
        .first<RecordRow | undefined>(...recordColumns)
        .where({ tenantId, partition, offset });
      return row && recordOf(row);
    },
    async readNewest(tenantId, from, { limit, offset, containing }) {
      if (from.length === 0) return { records: [], isCut: false };
      const query = db('brokerRecord')
        .select('partition', 'offset', 'receivedAt', db.raw('octet_length(message) as bytes'))
        .where({ tenantId })
        .where((group) => {
          for (const each of from) {
            void group.orWhere((one) => {
              void one.where('partition', each.partition).andWhere('offset', '>=', each.offset);
            });
          }
        });
      if (containing !== undefined) void query.whereRaw('strpos(message, ?) > 0', [containing]);
      const page = query.orderBy(newestFirst).limit(limit).offset(offset);
      // The messages that fit are read; of the others only how long they are.
      const { rows } = await db.raw<{
        rows: (RecordRow & { partition: number; isCut: boolean })[];
      }>(
        `with page as materialized (?),
         place as (
           select *, row_number() over newest as number, sum(bytes) over newest as total from page
           window newest as (order by received_at desc, partition desc, "offset" desc)
         )
         select record."offset", record.key, record.org_id as "orgId", record.message,
           record.received_at as "receivedAt", record.partition,
           exists (select from place where number > 1 and total > ?) as "isCut"
         from place join broker_record as record
           on record.tenant_id = ? and record.partition = place.partition
           and record."offset" = place."offset"
         where place.number = 1 or place.total <= ?
         order by place.number`,
        [page, newestBytesMax, tenantId, newestBytesMax] as unknown as string[],
      );
      return {
        records: rows.map(({ isCut: _isCut, ...row }) => recordOf(row)),
        isCut: rows[0]?.isCut ?? false,
      };
    },
  };
}

/** The usage log in PostgreSQL: tables `broker_partition` and `broker_record`. */
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
