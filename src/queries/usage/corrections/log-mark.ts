import type { Knex } from 'knex';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { eventIdsAt } from '../../../models/usage/finding/usage-place.js';
import { placeColumns, type PlacedEvent } from './meter-members.js';

interface PartitionMark {
  readonly partition: number;
  readonly nextOffset: number;
  /** How many events of the partition are rated. */
  readonly rated: number;
}

/** How far the log of a tenant was rated at some moment, by partition. */
export type LogMark = ReadonlyMap<number, PartitionMark>;

export async function readLogMark(db: Knex, tenantId: string): Promise<LogMark> {
  const rows = await sqlRows<PartitionMark>(
    db,
    `select partition, next_offset::float8 as "nextOffset", rated::float8 as "rated"
     from usage_consumer where tenant_id = ?`,
    [tenantId],
  );
  return new Map(rows.map((row) => [row.partition, row]));
}

/** Whether an event was rated, or at least sent, after the mark was taken. */
export const isBehind = (mark: LogMark, { partition, offset }: PlacedEvent): boolean =>
  partition !== undefined &&
  offset !== undefined &&
  offset >= (mark.get(partition)?.nextOffset ?? 0);

/**
 * The usage that was rated between two marks, in the order of the log; null: an event that had been
 * rejected was rated meanwhile, so that it belongs among what came before.
 */
export async function findRatedBetween(
  db: Knex,
  tenantId: string,
  mark: LogMark,
  now: LogMark,
): Promise<readonly Required<PlacedEvent>[] | null> {
  const moved = [...now.values()].filter(
    ({ partition, nextOffset, rated }) =>
      nextOffset !== (mark.get(partition)?.nextOffset ?? 0) ||
      rated !== (mark.get(partition)?.rated ?? 0),
  );
  if (moved.length === 0) return [];
  const { sql, bindings } = eventIdsAt(
    tenantId,
    moved.map(({ partition, nextOffset }) => ({
      partition,
      from: mark.get(partition)?.nextOffset ?? 0,
      to: nextOffset,
    })),
  );
  const came = await sqlRows<Required<PlacedEvent>>(
    db,
    `select ${placeColumns}, account_id as "accountId", service_id as "serviceId"
     from usage_event where tenant_id = ? and status = 'rated' and id in (${sql})
     order by partition, "offset"`,
    [tenantId, ...bindings],
  );
  const counts = new Map<number, number>();
  for (const { partition } of came) counts.set(partition, (counts.get(partition) ?? 0) + 1);
  const isWhole = moved.every(
    ({ partition, rated }) =>
      rated - (mark.get(partition)?.rated ?? 0) === (counts.get(partition) ?? 0),
  );
  return isWhole ? came : null;
}
