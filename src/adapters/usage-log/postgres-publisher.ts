import type { Knex } from 'knex';
import { arrayLiteral, joinGroups, splitGroupsSql } from '../../kernel/text/postgres-array.js';
import { problem } from '../../kernel/problem.js';
import { usageTopic } from '../../messages/usage-log.js';
import type { Published, UsageMessage } from '../../messages/broker.js';
import { partitionOf } from '../../messages/usage/log-partition.js';
import { groupsOf, groupTexts } from '../../messages/usage/usage-message-group.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Database } from '../../platform/database/database.js';
import { inGroups, type PublishOptions } from './publish-in-groups.js';

/** Where it is told that something was published. */
export const publishedChannel = 'usage_published';

/** What one statement may carry: beyond it the next group starts. */
const groupMessagesMax = 2_000;
const groupBytesMax = 64 * 1024 * 1024;

/**
 * Assigns offsets and writes the messages in one statement, so that offsets have no gaps and become
 * visible in order: the row of a partition stays locked until its messages are committed. `back` is
 * the distance of the first message of a row from the end of its partition.
 */
const publishSql = `
  with taken as (
    insert into broker_partition (tenant_id, partition, next_offset)
    select * from unnest(?::text[], ?::int[], ?::bigint[]) as slot (tenant_id)
    where not exists (select from tenant_fence as fence where fence.tenant_id = slot.tenant_id)
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
  select tenant_id, partition, next_offset, pg_notify('${publishedChannel}', '') from taken`;

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

/** Publishes messages with one statement: they are there at one instant. */
export async function publishGroup(
  db: Knex,
  messages: readonly UsageMessage[],
): Promise<Published[]> {
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
  const publishing = db.raw<{
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
  // Planning it takes longer than writing some messages: it stays prepared in its session.
  const { rows } = await publishing.options({ name: 'publish usage' });
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

type Publish = (messages: readonly UsageMessage[]) => Promise<Published[]>;

/** Publishes to the cells of the tenants, the messages of each cell in groups of their own. */
export function publishToCells(database: Database, options: PublishOptions): Publish {
  const publishers = new Map<Cell, Publish>();
  const publisherOf = (cell: Cell): Publish => {
    const known = publishers.get(cell);
    if (known) return known;
    const publish = inGroups((messages) => publishGroup(cell.platform, messages), {
      messagesMax: groupMessagesMax,
      bytesMax: groupBytesMax,
      ...options,
    });
    publishers.set(cell, publish);
    return publish;
  };
  if (database.cells.length === 1) return publisherOf(database.home);
  return async (messages) => {
    const byCell = new Map<Cell, number[]>();
    for (const [index, { tenantId }] of messages.entries()) {
      const cell = await database.cellOf(tenantId);
      const own = byCell.get(cell);
      if (own) own.push(index);
      else byCell.set(cell, [index]);
    }
    const published = new Map<number, Published>();
    const publishTo = async ([cell, indexes]: [Cell, number[]]): Promise<void> => {
      const answers = await publisherOf(cell)(indexes.flatMap((index) => messages[index] ?? []));
      for (const [at, index] of indexes.entries()) {
        if ((answers[at]?.offset ?? 0) >= 0) continue;
        // Nothing was published for a tenant that is moved.
        database.forgetCell(messages[index]?.tenantId);
        throw problem.overloaded('The tenant is being moved to another server; send it again.');
      }
      for (const [at, index] of indexes.entries()) {
        const answer = answers[at];
        if (answer) published.set(index, answer);
      }
    };
    await Promise.all([...byCell].map(publishTo));
    return messages.flatMap((_message, index) => published.get(index) ?? []);
  };
}
