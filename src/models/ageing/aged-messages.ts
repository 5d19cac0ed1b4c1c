import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import type { AgedRows } from './aged-rows.js';

/** The last row of the usage log that was looked at. */
export interface LogPlace {
  readonly partition: number;
  /** A `bigint`, so text. */
  readonly offset: string;
}

/** What a look at some rows of the log came to. */
export interface RemovedMessages {
  readonly removed: number;
  /** Where the next look goes on; null: there is nothing more. */
  readonly next: LogPlace | null;
}

interface LookRow {
  readonly removed: number;
  readonly partition: number | null;
  readonly offset: string | null;
  readonly isYoung: boolean | null;
}

const afterAll = '9223372036854775807';

/**
 * Rows of the log from a place on, of which those go that are old, were rated, and hold no message of a
 * rejected event, which may be rated again. Ranges that go are written down with their day, joined to
 * what went before on that day.
 */
const removeSql = `
  with page as materialized (
    select partition, first_offset, end_offset, received_at from usage_message
    where tenant_id = :tenantId
      and (partition, first_offset) > (:partition::integer, :offset::bigint)
    order by partition, first_offset limit :limit
  ), old as (
    select page.* from page join usage_consumer as consumer
      on consumer.tenant_id = :tenantId and consumer.partition = page.partition
    where received_at < :before and end_offset <= consumer.next_offset and not exists (
      select from usage_event as event
      where event.tenant_id = :tenantId and event.partition = page.partition
        and event."offset" >= page.first_offset and event."offset" < page.end_offset
        and event.status = 'rejected' and event.original_id is null
    )
  ), gone as (
    delete from usage_message as message using old
    where message.tenant_id = :tenantId and message.partition = old.partition
      and message.first_offset = old.first_offset
    returning message.partition, message.first_offset, message.end_offset
  ), amended as (
    update usage_event_change as change set message = null from gone
    where change.tenant_id = :tenantId and change.message is not null
      and change.partition = gone.partition and change."offset" >= gone.first_offset
      and change."offset" < gone.end_offset
  ), marked as (
    select *, first_offset is distinct from lag(end_offset) over (
      partition by partition order by first_offset) as begins from gone
  ), numbered as (
    select *, count(*) filter (where begins) over (
      partition by partition order by first_offset) as range from marked
  ), range as (
    select partition, min(first_offset) as first_offset, max(end_offset) as end_offset
    from numbered group by partition, range
  ), joined as (
    update removed_message as known set end_offset = range.end_offset from range
    where known.tenant_id = :tenantId and known.partition = range.partition
      and known.end_offset = range.first_offset and known.removed_on = :today::date
      and known.first_offset = (
        select max(first_offset) from removed_message as before
        where before.tenant_id = :tenantId and before.partition = range.partition
          and before.first_offset < range.first_offset
      )
    returning range.partition, range.first_offset
  ), written as (
    insert into removed_message (tenant_id, partition, first_offset, end_offset, removed_on)
    select :tenantId, partition, first_offset, end_offset, :today::date from range
    where (partition, first_offset) not in (select partition, first_offset from joined)
  )
  select (select coalesce(sum(end_offset - first_offset), 0) from gone)::integer as "removed",
    last.partition, last.first_offset as "offset", last.received_at >= :before as "isYoung"
  from (select) as always left join lateral (
    select * from page order by partition desc, first_offset desc limit 1
  ) as last on true`;

/** Removes old messages of the usage log among the next `limit` rows after a place. */
export async function removeMessages(
  trx: Knex.Transaction,
  { today, after, ...aged }: AgedRows & { readonly today: string; readonly after: LogPlace | null },
): Promise<RemovedMessages> {
  const from = after ?? { partition: -1, offset: '-1' };
  const [row] = await sqlRows<LookRow>(trx, removeSql, { ...aged, ...from, today });
  const { removed = 0, partition = null, offset = null, isYoung = null } = row ?? {};
  if (partition === null || offset === null) return { removed, next: null };
  // The rest of a partition is younger still.
  return { removed, next: { partition, offset: isYoung === true ? afterAll : offset } };
}
