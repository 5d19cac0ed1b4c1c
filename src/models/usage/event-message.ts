import type { Knex } from 'knex';
import { arrayLiteral, oneJsonSql, splitJson, splitSql } from '../../kernel/text/postgres-array.js';
import type { UsageRecord } from '../../messages/usage-log.js';
import { groupsOf, groupTexts } from '../../messages/usage-message-group.js';
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

/** SQL for the same as it was sent. */
export const sentMessageSql = (t: string): string => `coalesce(${t}.message, (
  ${groupSql(
    `case when end_offset > ${t}."offset" then
       ${oneJsonSql('messages', `(${t}."offset" - first_offset + 1)::integer`)} end`,
    t,
  )}
), (
  select broker_record.message from broker_record
  where broker_record.tenant_id = ${t}.tenant_id and broker_record.partition = ${t}.partition
    and broker_record."offset" = ${t}."offset"
))`;

/**
 * SQL for about how many bytes that message has, found without reading it: a long one is alone in its
 * row of the log.
 */
export const eventMessageWeightSql = (t: string): string => `coalesce(octet_length(${t}.message), (
  ${groupSql('octet_length(messages) / (end_offset - first_offset)', t)}
), 0)::bigint`;

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
 * SQL for what stands at places of the log (`:partitions`, `:offsets`), as (place, text), counted from 1.
 * Each row of it is unpacked once, and found by its key, whatever PostgreSQL believes of how many there are.
 */
const messagesAtSql = `
  with asked as materialized (
    select one.*, (
      select first_offset from usage_message
      where tenant_id = :tenantId and usage_message.partition = one.partition
        and first_offset <= one."offset"
      order by first_offset desc limit 1
    ) as first
    from unnest(:partitions::integer[], :offsets::bigint[]) with ordinality
      as one (partition, "offset", place)
  ), unpacked as materialized (
    select own.*, ${splitSql('messages')} as texts
    from (select distinct partition, first from asked) as own
    cross join lateral (
      select messages from usage_message
      where tenant_id = :tenantId and usage_message.partition = own.partition
        and first_offset = own.first offset 0
    ) as found
  )
  select place::integer, case when "offset" - first < cardinality(texts) then
    texts[("offset" - first + 1)::integer] end as text
  from asked join unpacked using (partition, first)`;

/**
 * SQL for the rows of the log between two of its places (`:first`, `:last`), of which those with one long
 * message alone are left out that nobody asks for (`:offsets`).
 */
const groupsBetweenSql = `
  select first_offset::float8 as "first", messages from usage_message
  where tenant_id = :tenantId and partition = :partition and first_offset <= :last
    and first_offset >= coalesce((
      select before.first_offset from usage_message as before
      where before.tenant_id = :tenantId and before.partition = :partition
        and before.first_offset <= :first
      order by before.first_offset desc limit 1
    ), :first)
    and (end_offset - first_offset > 1 or first_offset = any(:offsets::bigint[]))`;

/** A place of the log. */
export interface LogPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Messages of the log for each that is asked for, up to which whole rows of it are taken apart here. */
const spanMax = 8;

/** What stands at places of the log; null where there is nothing. */
export async function readMessagesAt(
  db: Knex,
  tenantId: string,
  places: readonly LogPlace[],
): Promise<(string | null)[]> {
  if (places.length === 0) return [];
  const offsets = places.map(({ offset }) => offset);
  const [first, last] = [Math.min(...offsets), Math.max(...offsets)];
  const partition = places[0]?.partition ?? 0;
  const areNear =
    last - first < spanMax * places.length &&
    places.every((place) => place.partition === partition);
  if (areNear) {
    const bindings = { tenantId, partition, first, last, offsets: arrayLiteral(offsets) };
    const found = new Map<number, string>();
    const rows = sqlRows<{ first: number; messages: string }>(db, groupsBetweenSql, bindings);
    for (const { first: begin, messages } of await rows) {
      for (const [index, text] of splitJson(messages).entries()) found.set(begin + index, text);
    }
    return offsets.map((offset) => found.get(offset) ?? null);
  }
  const texts = places.map((): string | null => null);
  const rows = sqlRows<{ place: number; text: string | null }>(db, messagesAtSql, {
    tenantId,
    partitions: arrayLiteral(places.map((place) => place.partition)),
    offsets: arrayLiteral(offsets),
  });
  for (const { place, text } of await rows) texts[place - 1] = text;
  return texts;
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
