/**
 * Rated usage as the facts have it, in the form of totals: common table expressions to follow `event`,
 * which has the columns id and event_at of rated events.
 *
 * `part` has a row for each charge (attribute_name is null) and for each of its priced rows: one event
 * with a charge of 5 calls and 2 GB for 0.70 gives (e, 1, 0, null, 7, 0.70), (e, 1, 1, 'calls', 5, 0.50)
 * and (e, 1, 2, 'gb', 2, 0.20).
 */
export const factPartsSql = `
  charge as (
    select event.id as event_id, event.event_at, 1 as number, fact.id, fact.account_id,
      fact.contract_id, fact.service_id, fact.usage_type, fact.currency, fact.quantity, fact.amount
    from event join rated_transaction as fact
      on fact.tenant_id = :tenantId and fact.id = usage_charge_id(event.id, 1)
    union all
    select charge.event_id, charge.event_at, charge.number + 1, fact.id, fact.account_id,
      fact.contract_id, fact.service_id, fact.usage_type, fact.currency, fact.quantity, fact.amount
    from charge join rated_transaction as fact on fact.tenant_id = :tenantId
      and fact.id = usage_charge_id(charge.event_id, charge.number + 1)
  ),
  part as (
    select event_id, event_at, number, 0 as place, account_id, contract_id, service_id, usage_type,
      currency, null::text as attribute_name, exists (select from rated_dimension as dimension
        where dimension.tenant_id = :tenantId and dimension.transaction_id = charge.id) as has_rows,
      quantity, amount
    from charge
    union all
    select event_id, event_at, number, 1 + dimension.position, account_id, contract_id, service_id,
      usage_type, charge.currency, dimension.dimension_name, false, dimension.volume,
      dimension.calc_amount
    from charge join rated_dimension as dimension
      on dimension.tenant_id = :tenantId and dimension.transaction_id = charge.id
  )`;

/** When usage occurred, as the index `usage_event_time` has it (docs/decisions/0078). */
export const eventTimeSql =
  '(case when usage_event.event_at is null then usage_event.received_at else usage_event.event_at end)';
