import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { eventTimeSql, factPartsSql } from './usage-fact.js';
import { grainsSql, lockSql, pendingPartsSql } from './usage-total.js';

/** The parts of each event of a day in one row, with the key that names them (`combinationOf`). */
const shapedSql = `
  event as materialized (
    select id, event_at, null::jsonb as dimensions from usage_event
    where tenant_id = :tenantId and status = 'rated'
      and ${eventTimeSql} >= :day::date::timestamp at time zone 'UTC'
      and ${eventTimeSql} < (:day::date + 1)::timestamp at time zone 'UTC'
  ),
  ${factPartsSql},
  keyed as (
    select *, key_part(service_id::text) || key_part(usage_type) || key_part(currency)
      || key_part(attribute_name) as key
    from part
  ),
  shaped as (
    select event_id, date_trunc('hour', event_at, 'UTC') as start_at,
      md5(string_agg(key_part(account_id::text) || key_part(contract_id::text) || key, ''
        order by number, place))::uuid as combination_id,
      md5(string_agg('--' || key, '' order by number, place))::uuid as coarse_id,
      array_agg(quantity order by number, place) as quantities,
      array_agg(amount order by number, place) as amounts
    from keyed group by event_id, event_at
  )`;

const combinationsSql = `
  with ${shapedSql},
  example as (
    select distinct on (combination_id) combination_id, coarse_id, event_id from shaped
    order by combination_id
  ),
  named as (
    insert into usage_combination (tenant_id, id, coarse_id)
    select :tenantId, combination_id, coarse_id from example order by combination_id
    on conflict do nothing
  ),
  placed as (
    select example.combination_id, coarse_id, part.*,
      row_number() over (partition by event_id order by number, place) as position
    from example join part using (event_id)
  )
  insert into usage_combination_part (tenant_id, combination_id, position, is_coarse, account_id,
    contract_id, service_id, usage_type, currency, attribute_name, has_rows)
  select :tenantId, combination_id, position, false, account_id, contract_id, service_id, usage_type,
    currency, attribute_name, has_rows
  from placed
  union all
  select :tenantId, coarse_id, position, true, null, null, service_id, usage_type, currency,
    attribute_name, has_rows
  from (select distinct on (coarse_id, position) * from placed order by coarse_id, position) as one
  order by 2, 3
  on conflict do nothing`;

/**
 * The totals of a day from its rated transactions, less the pending deltas: those are merged
 * afterwards, and so are the deltas of events rated from here on.
 */
const totalsSql = `
  with ${shapedSql},
  change as (
    select combination_id, start_at, position, 1::bigint as events, quantity, amount
    from shaped cross join unnest(quantities, amounts) with ordinality
      as part (quantity, amount, position)
    union all
    select combination_id, start_at, position, -events, -quantity, -amount
    from (${pendingPartsSql}) as pending
    where start_at >= :day::date::timestamp at time zone 'UTC'
      and start_at < (:day::date + 1)::timestamp at time zone 'UTC'
  ),
  ${grainsSql}
  insert into usage_total as known
    (tenant_id, grain, combination_id, start_at, events, quantities, amounts)
  select :tenantId, grain, combination_id, start_at, events, quantities, amounts from summed
  on conflict (tenant_id, grain, combination_id, start_at) do update set
    events = excluded.events, quantities = excluded.quantities, amounts = excluded.amounts`;

/**
 * Progress of a rebuild of a tenant's totals: the number of days with usage, and of rebuilt ones.
 */
export interface RebuildProgress {
  readonly days: number;
  readonly done: number;
}

/**
 * Starts a rebuild of all totals of a tenant; until its end, answers are summed from the rated
 * transactions.
 */
export async function beginRebuild(trx: Knex.Transaction, tenantId: string): Promise<void> {
  await trx.raw(`select pg_advisory_xact_lock(hashtextextended('usage-total/' || ?, 0))`, [
    tenantId,
  ]);
  await trx.raw(
    `insert into usage_total_rebuild (tenant_id) values (?)
     on conflict (tenant_id) do update set made_until = null`,
    [tenantId],
  );
  await trx.raw('delete from usage_total where tenant_id = ?', [tenantId]);
}

/** The tenants whose totals are being made; as the platform sees them. */
export async function listRebuilds(platform: Knex): Promise<string[]> {
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    'select tenant_id as "tenantId" from usage_total_rebuild order by tenant_id',
  );
  return rows.map(({ tenantId }) => tenantId);
}

/** Undefined: the totals of the tenant are complete. */
export async function findRebuild(
  db: Knex,
  tenantId: string,
): Promise<RebuildProgress | undefined> {
  const [row] = await sqlRows<RebuildProgress>(
    db,
    `select count(distinct day)::integer as "days",
       (count(distinct day) filter (where day <= made_until))::integer as "done"
     from usage_total_rebuild as rebuild left join usage_day
       on usage_day.tenant_id = rebuild.tenant_id and usage_day.kind = 'rated'
     where rebuild.tenant_id = ? group by rebuild.tenant_id`,
    [tenantId],
  );
  return row;
}

/**
 * Rebuilds the totals of the next day of a tenant; false: none is left, or another process is at
 * it.
 */
export async function rebuildNextDay(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const [next] = await sqlRows<{ isHeld: boolean; day: string | null }>(
    trx,
    `select ${lockSql} as "isHeld", (
       select min(day)::text from usage_day
       where tenant_id = rebuild.tenant_id and kind = 'rated' and total > 0
         and (made_until is null or day > made_until)
     ) as "day" from usage_total_rebuild as rebuild where tenant_id = :tenantId`,
    { tenantId },
  );
  if (next?.isHeld !== true) return false;
  if (next.day === null) {
    await trx.raw('delete from usage_total_rebuild where tenant_id = ?', [tenantId]);
    return false;
  }
  const { day } = next;
  await trx.raw(combinationsSql, { tenantId, day });
  await trx.raw(totalsSql, { tenantId, day });
  await trx.raw('update usage_total_rebuild set made_until = ? where tenant_id = ?', [
    day,
    tenantId,
  ]);
  return true;
}
