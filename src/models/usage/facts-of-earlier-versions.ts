import type { Knex } from 'knex';
import { jsonSeparatorSql } from '../../kernel/text/postgres-array.js';
import { groupCountMax } from '../../messages/usage/usage-message-group.js';
import { sqlRows } from '../db/sql-rows.js';
import { listsMoveSql } from './finding/usage-list.js';
import { searchedIdsMax } from './usage-search.js';

/** What is moved from the form in which an earlier version wrote it (docs/decisions/0321). */
type MoveKind = 'priced rows' | 'messages' | 'searched ids' | 'external ids' | 'places' | 'lists';

/** How far the move of a tenant's facts is. */
export interface FactMove {
  readonly tenantId: string;
  readonly kind: MoveKind;
  /** Charges or messages, as decimal text. */
  readonly moved: string;
  readonly isDone: boolean;
}

/** Charges or messages that one transaction moves. */
const portion = 2_000;
/** An earlier version may run for a while and write the old form: looked for that often. */
const lookAgain = '10 minutes';

/**
 * Moves the priced rows of some charges from `rated_dimension` into the charges. Rows that repeat the
 * recorded plan leave out what it has.
 */
const pricedRowsMoveSql = `
  with chosen as materialized (
    select distinct transaction_id from rated_dimension where tenant_id = :tenantId
    order by transaction_id limit ${portion}
  ), gone as (
    delete from rated_dimension as gone_row using chosen
    where gone_row.tenant_id = :tenantId and gone_row.transaction_id = chosen.transaction_id
    returning gone_row.*
  ), checked as (
    select gone.*, t.quantity, t.amount as whole,
      (gone.dimension_id, gone.dimension_name, gone.price_method_type) is distinct from
        (known.dimension_id, known.dimension_name, known.price_method_type) as differs,
      count(*) over (partition by gone.transaction_id) = 1 and gone.shared_volume is null as is_only
    from gone join rated_transaction as t on t.tenant_id = :tenantId and t.id = gone.transaction_id
    left join rating_plan_row as known on known.tenant_id = :tenantId
      and known.plan_id = t.plan_id and known.rate_card_row_id = gone.rate_card_row_id
  ), folded as (
    select transaction_id, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'row', rate_card_row_id, 'volume', volume, 'rate', rate, 'amount', calc_amount,
      'counter', counter_id, 'before', counter_before, 'sharedVolume', shared_volume,
      'sharedAmount', shared_amount, 'dimension', case when differs then dimension_id end,
      'name', case when differs then dimension_name end,
      'method', case when differs then price_method_type end
    )) order by position) as rows
    from checked where not is_only or differs group by 1
  ), others as (
    update rated_transaction as t set priced_rows = folded.rows
    from folded where t.tenant_id = :tenantId and t.id = folded.transaction_id
  ), simple as (
    update rated_transaction as t set rate_card_row_id = checked.rate_card_row_id,
      rate = checked.rate, row_volume = nullif(checked.volume, checked.quantity),
      row_amount = nullif(checked.calc_amount, checked.whole), counter_id = checked.counter_id,
      counter_before = checked.counter_before
    from checked where checked.is_only and not checked.differs
      and t.tenant_id = :tenantId and t.id = checked.transaction_id
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen), done_at = case
      when (select count(*) from chosen) < ${portion} then now() end
    where tenant_id = :tenantId and kind = 'priced rows'
  )
  select count(*)::integer as "moved" from chosen`;

/**
 * Moves the messages of some events into the groups of the log (`groupsOf`), and removes the records
 * that had them as well.
 */
const messagesMoveSql = `
  with chosen as materialized (
    select id, partition, "offset", message, received_at from usage_event
    where tenant_id = :tenantId and message is not null order by id limit ${portion}
  ), missing as (
    select chosen.*, log.key, log.org_id, octet_length(chosen.message) > 4096 as is_long
    from chosen left join broker_record as log on log.tenant_id = :tenantId
      and log.partition = chosen.partition and log."offset" = chosen."offset"
    where not exists (
      select from usage_message as known
      where known.tenant_id = :tenantId and known.partition = chosen.partition
        and known.first_offset > chosen."offset" - ${groupCountMax}
        and known.first_offset <= chosen."offset" and known.end_offset > chosen."offset"
    )
  ), run as (
    select *, case when is_long then "offset" else
      "offset" - row_number() over (partition by partition, is_long order by "offset") end as run
    from missing
  ), numbered as (
    select *, (row_number() over (partition by partition, is_long, run order by "offset") - 1)
      / ${groupCountMax} as part
    from run
  ), written as (
    insert into usage_message
      (tenant_id, partition, first_offset, end_offset, messages, keys, org_ids, received_at)
    select :tenantId, partition, min("offset"), max("offset") + 1,
      string_agg(message, ${jsonSeparatorSql} order by "offset"),
      json_agg(key order by "offset")::text, json_agg(org_id order by "offset")::text,
      min(received_at)
    from numbered group by partition, is_long, run, part
  ), cleared as (
    update usage_event as event set message = null
    from chosen where event.tenant_id = :tenantId and event.id = chosen.id
  ), removed as (
    delete from broker_record as log using chosen
    where log.tenant_id = :tenantId and log.partition = chosen.partition
      and log."offset" = chosen."offset"
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen), done_at = case
      when (select count(*) from chosen) < ${portion} then now() end
    where tenant_id = :tenantId and kind = 'messages'
  )
  select count(*)::integer as "moved" from chosen`;

/** Groups the external ids of some charges, from the last one on. */
const searchedIdsMoveSql = `
  with chosen as materialized (
    select id, external_tran_id from rated_transaction
    where tenant_id = :tenantId
      and id > (
        select coalesce(last_id, '00000000-0000-0000-0000-000000000000') from fact_move
        where tenant_id = :tenantId and kind = 'searched ids'
      ) and id < (
        select end_id from fact_move where tenant_id = :tenantId and kind = 'searched ids'
      )
    order by id limit ${portion}
  ), numbered as (
    select external_tran_id, (row_number() over () - 1) / ${searchedIdsMax} as part
    from (select distinct external_tran_id from chosen) as own
  ), written as (
    insert into usage_search (tenant_id, external_ids)
    select :tenantId, json_agg(external_tran_id)::text from numbered group by part
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen),
      last_id = coalesce((select id from chosen order by id desc limit 1), last_id),
      done_at = case when (select count(*) from chosen) < ${portion} then now() end
    where tenant_id = :tenantId and kind = 'searched ids'
  )
  select count(*)::integer as "moved" from chosen`;

/** Names some events by their external ids (docs/decisions/0341), from the last one on. */
const externalIdsMoveSql = `
  with move as (
    select coalesce(last_id, '00000000-0000-0000-0000-000000000000') as last_id, end_id
    from fact_move where tenant_id = :tenantId and kind = 'external ids'
  ), chosen as materialized (
    select id, external_transaction_id, original_id from usage_event
    where tenant_id = :tenantId and id > (select last_id from move)
      and id <= (select end_id from move)
    order by id limit ${portion}
  ), written as (
    insert into usage_identity (tenant_id, external_id, event_id)
    select :tenantId, external_transaction_id, id from chosen
    where external_transaction_id is not null and original_id is null
    order by external_transaction_id collate "C"
    on conflict do nothing
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen),
      last_id = coalesce((select id from chosen order by id desc limit 1), last_id),
      done_at = case when (select count(*) from chosen) < ${portion} then now() end
    where tenant_id = :tenantId and kind = 'external ids'
  )
  select count(*)::integer as "moved" from chosen`;

/** Makes the range of some events of a partition (docs/decisions/0340), from the last one on. */
const placesMoveSql = `
  with part as (
    select partition, next_offset, end_offset from usage_range_move
    where tenant_id = :tenantId and next_offset < end_offset order by partition limit 1
  ), chosen as materialized (
    select event.id, event.partition, event."offset"
    from part join usage_event as event on event.tenant_id = :tenantId
      and event.partition = part.partition and event."offset" >= part.next_offset
      and event."offset" < part.end_offset
    order by event."offset" limit ${portion}
  ), written as (
    insert into usage_range (tenant_id, partition, first_offset, end_offset, first_id, last_id)
    select :tenantId, partition, min("offset"), max("offset") + 1, min(id::text)::uuid,
      max(id::text)::uuid
    from chosen where not usage_is_moved(id, partition, "offset") group by partition
  ), continued as (
    update usage_range_move as known set next_offset = case
      when (select count(*) from chosen) < ${portion} then part.end_offset
      else (select max("offset") + 1 from chosen) end
    from part where known.tenant_id = :tenantId and known.partition = part.partition
  ), counted as (
    update fact_move set moved = moved + (select count(*) from chosen),
      done_at = case when not exists (select from part) then now() end
    where tenant_id = :tenantId and kind = 'places'
  )
  select (case when exists (select from part) then ${portion} else 0 end) as "moved"`;

const moves = [
  pricedRowsMoveSql,
  messagesMoveSql,
  searchedIdsMoveSql,
  externalIdsMoveSql,
  placesMoveSql,
  listsMoveSql,
];

/** One process at a time moves the facts of a tenant, until the commit. */
const lockSql = `select pg_try_advisory_xact_lock(hashtextextended('fact-move/' || ?, 0)) as "isHeld"`;

/** Moves a portion of a tenant's facts; false: nothing is left, or another process moves them. */
export async function moveFacts(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const [lock] = await sqlRows<{ isHeld: boolean }>(trx, lockSql, [tenantId]);
  if (lock?.isHeld !== true) return false;
  let isLeft = false;
  for (const sql of moves) {
    const [done] = await sqlRows<{ moved: number }>(trx, sql, { tenantId });
    if ((done?.moved ?? 0) >= portion) isLeft = true;
  }
  return isLeft;
}

/** The tenants that may have something to move, as the platform sees them. */
export async function listMovingTenants(platform: Knex): Promise<string[]> {
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `select distinct tenant_id as "tenantId" from fact_move
     where done_at is null or done_at < now() - interval '${lookAgain}' order by 1`,
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** All moves, as the platform sees them. */
export function listFactMoves(platform: Knex): Promise<FactMove[]> {
  return sqlRows<FactMove>(
    platform,
    `select tenant_id as "tenantId", kind, moved, done_at is not null as "isDone"
     from fact_move order by tenant_id, kind`,
  );
}
