import type { Knex } from 'knex';
import {
  arrayLiteral,
  jsonSeparatorSql,
  oneJsonSql,
  splitJson,
} from '../../kernel/text/postgres-array.js';
import type { UsageRecord } from '../../messages/usage-log.js';
import { groupsOf, groupTexts } from '../../messages/usage/usage-message-group.js';
import { BulkTable } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';

/** Where an event's message is in the usage log (docs/decisions/0322). */
const groupSql = (columns: string, event: string): string => `
  select ${columns} from usage_message
  where usage_message.tenant_id = ${event}.tenant_id
    and usage_message.partition = ${event}.partition
    and usage_message.first_offset <= ${event}."offset"
  order by usage_message.first_offset desc limit 1`;

/** SQL for the content that an event `t` was given when it was amended last (docs/decisions/0371). */
const amendedSql = (t: string): string => `
  select amended.message from usage_event_change as amended
  where amended.tenant_id = ${t}.tenant_id and amended.event_id = ${t}.id
    and amended.message is not null
  order by amended.number desc limit 1`;

/** SQL for the same where the event was amended since; null where it has what it was sent with. */
export const sentBeforeAmendingSql = (t: string): string =>
  `case when (${amendedSql(t)}) is not null then ${sentMessageSql(t)} end`;

/**
 * SQL for the message of an event `t`: as it was amended, or of its row, as versions before 0322 wrote
 * it, else of the log, of which `broker_record` has what such versions have published.
 */
export const eventMessageSql = (t: string): string =>
  `coalesce((${amendedSql(t)}), ${sentMessageSql(t)})`;

/** SQL for what is made of the message that an event was sent with, wherever it is: of one or of a group. */
const sentSql = (t: string, ofOne: (message: string) => string, ofGroup: string): string =>
  `coalesce(${ofOne(`${t}.message`)}, (
  ${groupSql(`case when end_offset > ${t}."offset" then ${ofGroup} end`, t)}
), (
  select ${ofOne('broker_record.message')} from broker_record
  where broker_record.tenant_id = ${t}.tenant_id and broker_record.partition = ${t}.partition
    and broker_record."offset" = ${t}."offset"
))`;

/** SQL for the same as it was sent. */
export const sentMessageSql = (t: string): string =>
  sentSql(
    t,
    (message) => message,
    oneJsonSql('messages', `(${t}."offset" - first_offset + 1)::integer`),
  );

/** SQL for about how many bytes that has, found without reading it: a long one is alone in its row of the log. */
const sentWeightSql = (t: string): string =>
  sentSql(
    t,
    (message) => `octet_length(${message})`,
    'octet_length(messages) / (end_offset - first_offset)',
  );

/**
 * SQL for whether an event has the message that stands at its place in the log. Of most tenants none was
 * amended: then nothing is looked for.
 */
export const isAsSentSql = (t: string): string => `${t}.message is null and (
  (select not exists (
    select from usage_event_change where tenant_id = :tenantId and message is not null
  )) or not exists (
    select from usage_event_change as amended
    where amended.tenant_id = :tenantId and amended.event_id = ${t}.id and amended.message is not null
    offset 0
  ))`;

/** SQL for about how many bytes the message of an event has, as it was amended last. */
export const eventMessageWeightSql = (t: string): string =>
  `coalesce(octet_length((${amendedSql(t)})), ${sentWeightSql(t)}, 0)::bigint`;

/** SQL for about how many bytes all has that an event was ever sent or amended with. */
export const eventContentsWeightSql = (t: string): string => `(coalesce(${sentWeightSql(t)}, 0) + (
  select coalesce(sum(octet_length(amended.message)), 0) from usage_event_change as amended
  where amended.tenant_id = ${t}.tenant_id and amended.event_id = ${t}.id
))::bigint`;

/** The messages of these events, by event; null: the log has it no more. */
export async function readEventMessages(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
): Promise<Map<string, string | null>> {
  if (eventIds.length === 0) return new Map();
  const rows = await sqlRows<{ id: string; message: string | null }>(
    db,
    `select t.id, ${eventMessageSql('t')} as message from usage_event as t
     where t.tenant_id = ? and t.id = any(?::uuid[])`,
    [tenantId, arrayLiteral(eventIds)],
  );
  return new Map(rows.map(({ id, message }) => [id, message]));
}

/**
 * How many of the first of these events have messages of so many bytes together, or all that they ever had:
 * one at least.
 */
export async function countFitting(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
  bytesMax: number,
  weightSql = eventMessageWeightSql,
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const [row] = await sqlRows<{ count: number }>(
    db,
    `select count(*)::integer as "count" from (
       select sum(weight) over (order by place) - weight as before from (
         select place, coalesce((
           select ${weightSql('t')} from usage_event as t
           where t.tenant_id = ? and t.id = asked.id
         ), 0) as weight
         from unnest(?::uuid[]) with ordinality as asked (id, place)
       ) as weighed
     ) as summed where before < ?`,
    [tenantId, arrayLiteral(eventIds), bytesMax],
  );
  return Math.max(row?.count ?? 0, 1);
}

/**
 * SQL for what stands at places of the log (`:partitions`, `:offsets`), joined, of as many of the first of
 * them as have so many bytes (`:bytesMax`) together: an empty text is that of a place where nothing is. Each
 * is cut out of its row of the log as that is found: rows that are unpacked, and sorted so, take longer.
 */
const messagesAtSql = `
  select string_agg(coalesce(
    ${oneJsonSql('messages', '("offset" - first + 1)::integer')}, ''
  ), ${jsonSeparatorSql} order by place) as texts
  from (
    select place, "offset", first, messages,
      sum(coalesce(weight, 0)) over (order by place) - coalesce(weight, 0) as before
    from unnest(:partitions::integer[], :offsets::bigint[]) with ordinality
      as one (partition, "offset", place)
    left join lateral (
      select first_offset as first, end_offset as next, messages,
        (octet_length(messages) / (end_offset - first_offset))::integer as weight
      from usage_message
      where tenant_id = :tenantId and usage_message.partition = one.partition
        and first_offset <= one."offset"
      order by first_offset desc limit 1
    ) as found on found.next > one."offset"
  ) as weighed
  where before < :bytesMax`;

/**
 * SQL for the rows of the log between two of its places (`:first`, `:last`), of which those with one long
 * message alone are left out that nobody asks for (`:offsets`); none where they have more bytes than
 * `:bytesMax` together.
 */
const groupsBetweenSql = `
  select first, messages from (select first_offset::float8 as first, messages,
    sum(octet_length(messages)) over () as weight
  from usage_message
  where tenant_id = :tenantId and partition = :partition and first_offset <= :last
    and first_offset >= coalesce((
      select before.first_offset from usage_message as before
      where before.tenant_id = :tenantId and before.partition = :partition
        and before.first_offset <= :first
      order by before.first_offset desc limit 1
    ), :first)
    and (end_offset - first_offset > 1 or first_offset = any(:offsets::bigint[]))
  ) as found where weight <= :bytesMax`;

/**
 * What the messages of a page of events may have together: it ends before its limit where it would have
 * more, since each may have a mebibyte.
 */
export const pageBytesMax = 8 * 1024 * 1024;

/** A place of the log. */
export interface LogPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Messages of the log for each that is asked for, up to which whole rows of it are taken apart here. */
const spanMax = 8;

/**
 * What stands at as many of the first of these places of the log as have so many bytes together, at one at
 * least; null where there is nothing.
 */
export async function readMessagesAt(
  db: Knex,
  tenantId: string,
  places: readonly LogPlace[],
  bytesMax: number,
): Promise<(string | null)[]> {
  if (places.length === 0) return [];
  const offsets = places.map(({ offset }) => offset);
  const [first, last] = [Math.min(...offsets), Math.max(...offsets)];
  const partition = places[0]?.partition ?? 0;
  const areNear =
    last - first < spanMax * places.length &&
    places.every((place) => place.partition === partition);
  if (areNear) {
    const bindings = { tenantId, partition, first, last, offsets: arrayLiteral(offsets), bytesMax };
    const asked = new Set(offsets);
    const found = new Map<number, string>();
    const rows = await sqlRows<{ first: number; messages: string }>(db, groupsBetweenSql, bindings);
    for (const { first: begin, messages } of rows) {
      for (const [index, text] of splitJson(messages).entries()) {
        if (asked.has(begin + index)) found.set(begin + index, text);
      }
    }
    if (rows.length > 0) return offsets.map((offset) => found.get(offset) ?? null);
  }
  const [row] = await sqlRows<{ texts: string }>(db, messagesAtSql, {
    tenantId,
    partitions: arrayLiteral(places.map((place) => place.partition)),
    offsets: arrayLiteral(offsets),
    bytesMax,
  });
  return splitJson(row?.texts ?? '').map((text) => text || null);
}

interface GroupRow {
  readonly partition: number;
  readonly firstOffset: number;
  readonly endOffset: number;
  readonly messages: string;
  readonly keys: string | null;
  readonly orgIds: string | null;
  readonly receivedAt: Date;
}

const table = new BulkTable<GroupRow>('usage_message', {
  partition: 'integer',
  firstOffset: 'bigint',
  endOffset: 'bigint',
  messages: 'text',
  keys: 'text',
  orgIds: 'text',
  receivedAt: 'timestamptz',
});

/** Records in their order, divided where an offset between them has none. */
function runsOf(records: readonly UsageRecord[]): UsageRecord[][] {
  const runs: UsageRecord[][] = [];
  for (const record of records) {
    const last = runs.at(-1);
    if (last?.at(-1)?.offset === record.offset - 1) last.push(record);
    else runs.push([record]);
  }
  return runs;
}

/** Keeps the messages of a log that is elsewhere. */
export async function insertMessages(
  trx: Knex.Transaction,
  tenantId: string,
  partition: number,
  records: readonly UsageRecord[],
): Promise<void> {
  const rows = runsOf(records)
    .flatMap((run) => groupsOf(run))
    .flatMap((group): GroupRow[] => {
      const [first] = group;
      if (first === undefined) return [];
      const { messages, keys, orgIds } = groupTexts(group);
      return [
        {
          partition,
          firstOffset: first.offset,
          endOffset: first.offset + group.length,
          messages,
          keys: keys === '' ? null : keys,
          orgIds: orgIds === '' ? null : orgIds,
          receivedAt: first.receivedAt,
        },
      ];
    });
  await table.insert(trx, tenantId, rows);
}
