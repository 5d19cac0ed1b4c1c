import type { SqlValue } from '../../db/sql-rows.js';

/** Offsets of a partition of the log, from the first to before the last. */
export interface PlaceRange {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** Whether an event is at the place of the log that the range `sent` has. */
const isSent = (event: string): string => `${event}.partition = sent.at_partition
  and ${event}."offset" >= sent.at_from and ${event}."offset" < sent.at_to`;

/**
 * SQL for the ids of the events at these places, and its bindings. An id says where its event is
 * (docs/decisions/0040), but for those that were moved, which have an index; between which ids the
 * events of a range are, `usage_range` says (docs/decisions/0340). Where workers are still making
 * these ranges, the index of all places finds the events.
 */
export function eventIdsAt(
  tenantId: string,
  ranges: readonly PlaceRange[],
): { readonly sql: string; readonly bindings: readonly SqlValue[] } {
  return {
    sql: `
    with sent as (
      select * from unnest(?::integer[], ?::bigint[], ?::bigint[]) as sent (at_partition, at_from, at_to)
    ), known as (
      select sent.*, usage_range.first_id, usage_range.last_id from sent join usage_range
        on usage_range.tenant_id = ? and usage_range.partition = sent.at_partition
        and usage_range.first_offset < sent.at_to
        -- Ranges do not overlap: of those that begin before, the last one may reach into it.
        and usage_range.first_offset >= coalesce((
          select earlier.first_offset from usage_range as earlier
          where earlier.tenant_id = ? and earlier.partition = sent.at_partition
            and earlier.first_offset <= sent.at_from
          order by earlier.first_offset desc limit 1
        ), sent.at_from)
    )
    select event.id from known as sent join usage_event as event on event.tenant_id = ?
      and event.id >= sent.first_id and event.id <= sent.last_id and ${isSent('event')}
    union
    select moved.id from sent join usage_event as moved on moved.tenant_id = ?
      and ${isSent('moved')}
      and usage_is_moved(moved.id, moved.partition, moved."offset")
    union
    select earlier.id from sent join usage_event as earlier on earlier.tenant_id = ?
      and ${isSent('earlier')}
    where exists (
      select from fact_move where tenant_id = ? and kind = 'places' and done_at is null
    )`,
    bindings: [
      ranges.map(({ partition }) => partition),
      ranges.map(({ from }) => from),
      ranges.map(({ to }) => to),
      ...Array.from({ length: 6 }, () => tenantId),
    ],
  };
}
