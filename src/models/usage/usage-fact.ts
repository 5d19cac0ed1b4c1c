import { pricedRowsSql } from './priced-row.js';

/**
 * Rated usage as the facts have it, in the form of totals: common table expressions to follow `event`,
 * which has the columns id, event_at and dimensions of rated events. Each part has these dimensions: a
 * join of parts with events would compare each with each where statistics know nothing of the tenant.
 *
 * `part` has a row for each charge (attribute_name is null) and for each of its priced rows: one event
 * with a charge of 5 calls and 2 GB for 0.70 gives (e, 1, 0, null, 7, 0.70), (e, 1, 1, 'calls', 5, 0.50)
 * and (e, 1, 2, 'gb', 2, 0.20).
 */
export const factPartsSql = partsKnownSql('true');

/** The same of the charges that were known, by a condition on them: "rated_at <= …". */
export function partsKnownSql(isKnown: string): string {
  return `
  -- Ids are computed before they are compared: the functions that make them are not leakproof, and
  -- row-level security would keep the primary key from being used (docs/decisions/0078).
  first as materialized (
    select id, event_at, dimensions, usage_charge_id(id, 1) as charge_id from event
  ),
  charge as (
    select first.id as event_id, first.event_at, first.dimensions, found.*,
      exists (select from (select) as always ${pricedRowsSql('join', 'true', 'found')}) as has_rows
    from first cross join lateral (
      -- From charge to charge by their ids (docs/decisions/0040), however large the table is.
      with recursive numbered as (
        select 1 as number, usage_charge_id(first.id, 2) as next_id, fact.*
        from rated_transaction as fact where fact.tenant_id = :tenantId and fact.id = first.charge_id
        union all
        select numbered.number + 1, usage_charge_id(first.id, numbered.number + 2), fact.*
        -- One row by its key: a join may read all charges of the tenant for each event, where
        -- statistics are older than the charges.
        from numbered cross join lateral (
          select * from rated_transaction
          where tenant_id = :tenantId and id = numbered.next_id limit 1
        ) as fact
      )
      -- What stands: neither what was taken back, nor what takes back.
      select * from numbered where reverses is null and ${isKnown}
        and id not in (select reverses from numbered where reverses is not null and ${isKnown})
    ) as found
  ),
  part as (
    select event_id, event_at, number, 0 as place, account_id, contract_id, service_id, usage_type,
      currency, null::text as attribute_name, has_rows, quantity, amount, dimensions
    from charge
    union all
    select event_id, event_at, number, 1 + d.position, account_id, contract_id, service_id,
      usage_type, currency, d.dimension_name, false, d.volume, d.calc_amount, dimensions
    from charge ${pricedRowsSql('join', 'true', 'charge')}
  )`;
}

/** When usage occurred, as the index `usage_event_time` has it (docs/decisions/0078). */
export const eventTimeSql =
  '(case when usage_event.event_at is null then usage_event.received_at else usage_event.event_at end)';
