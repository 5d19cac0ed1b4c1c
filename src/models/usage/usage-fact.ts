import { pricedRowsSql } from './priced-row.js';

/** The columns of a charge that parts, or what is known of it, are made from. */
const chargeColumns = `fact.tenant_id, fact.id, fact.reverses, fact.rated_at, fact.correction_id,
  fact.account_id, fact.contract_id, fact.service_id, fact.usage_type, fact.currency, fact.quantity,
  fact.amount, fact.plan_id, fact.rate_card_row_id, fact.row_volume, fact.row_amount, fact.rate,
  fact.counter_id, fact.counter_before, fact.priced_rows`;

/**
 * One row by its key: a join may read all charges of the tenant for each event, where statistics are
 * older than the charges.
 */
const chargeSql = (columns: string, id: string): string => `(
  select ${columns} from rated_transaction as fact
  where fact.tenant_id = :tenantId and fact.id = ${id} limit 1
)`;

/** What `usage_charge_id` makes of the id of an event, in half of its time. */
const chargeIdSql = (number: 1 | 2): string =>
  `overlay(event.id::text placing '800${number}' from 20)::uuid`;

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

/**
 * The same of the charges that were known, by a condition on them: "rated_at <= …"; of charges alone,
 * without their priced rows, in half of the time.
 */
export function partsKnownSql(isKnown: string, { withRows = true } = {}): string {
  const ofCharge = `event_id, event_at, number, account_id, contract_id, service_id, usage_type, currency`;
  const hasRows = `exists (select from (select) as always ${pricedRowsSql('join', 'true', 'stands')})`;
  const rows = `
    union all
    select ${ofCharge}, 1 + d.position, d.dimension_name, false, d.volume, d.calc_amount, dimensions
    from charge ${pricedRowsSql('join', 'true', 'charge')}`;
  return `
  -- Ids are computed before they are compared: the functions that make them are not leakproof, and
  -- row-level security would keep the primary key from being used (docs/decisions/0078).
  first as materialized (
    select id, event_at, dimensions, ${chargeIdSql(1)} as charge_id, ${chargeIdSql(2)} as next_id
    from event
  ),
  -- Most events have one charge: only what has a second is gone through.
  begun as materialized (
    select first.id as event_id, first.event_at, first.dimensions, first.next_id, found.*,
      more.id is not null as has_more
    from first cross join lateral ${chargeSql(chargeColumns, 'first.charge_id')} as found
    left join lateral ${chargeSql('fact.id', 'first.next_id')} as more on true
  ),
  known as (
    select event_id, event_at, dimensions, 1 as number, ${chargeColumns.replaceAll('fact.', 'begun.')}
    from begun where not has_more and reverses is null and ${isKnown}
    union all
    select begun.event_id, begun.event_at, begun.dimensions, found.*
    from begun cross join lateral (
      -- From charge to charge by their ids (docs/decisions/0040), however large the table is.
      with recursive numbered as (
        select 1 as number, begun.next_id, ${chargeColumns.replaceAll('fact.', 'begun.')}
        union all
        select numbered.number + 1, usage_charge_id(begun.event_id, numbered.number + 2), fact.*
        from numbered cross join lateral ${chargeSql(chargeColumns, 'numbered.next_id')} as fact
      )
      -- What stands: neither what was taken back, nor what takes back.
      select number, ${chargeColumns.replaceAll('fact.', '')} from numbered
      where reverses is null and ${isKnown}
        and id not in (select reverses from numbered where reverses is not null and ${isKnown})
    ) as found where begun.has_more
  ),
  charge as (
    select stands.*, ${withRows ? hasRows : 'false'} as has_rows from known as stands
  ),
  part as (
    select ${ofCharge}, 0 as place, null::text as attribute_name, has_rows, quantity, amount,
      dimensions
    from charge${withRows ? rows : ''}
  )`;
}

/** When usage occurred, as the index `usage_event_time` has it (docs/decisions/0078). */
export const eventTimeSql =
  '(case when usage_event.event_at is null then usage_event.received_at else usage_event.event_at end)';
