import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  differencesMax,
  type UsageAuditInput,
  type UsageDifference,
} from '../../../messages/usage/usage-audit.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { eventTimeSql, factPartsSql } from '../../../models/usage/usage-fact.js';
import { pendingPartsSql } from '../../../models/usage/usage-total.js';

/** The days of the period, as instants of a column. */
const inPeriod = (column: string): string => `
  ${column} >= :periodStart::date::timestamp at time zone 'UTC'
  and ${column} < (:periodEnd::date + 1)::timestamp at time zone 'UTC'`;

const sums = (quantity: string, amount: string): string =>
  `date_trunc('day', start_at, 'UTC') as day, account_id, service_id, currency,
   sum(${quantity}) as quantity, sum(${amount}) as amount`;

/**
 * Compares the totals by day, service and currency, and those by account, with the rated
 * transactions; pending deltas are added to each grain. One statement, so that all sums are of the
 * same snapshot. Nothing is compared during a rebuild.
 * A stored amount of 5.00 for a day whose charges sum to 4.00 gives ('coarse day', the day,
 * service, USD, 5.00, 4.00).
 */
const totalsSql = `
  with event as materialized (
    select id, event_at, null::jsonb as dimensions from usage_event
    where tenant_id = :tenantId and status = 'rated' and ${inPeriod(eventTimeSql)}
  ),
  ${factPartsSql},
  fact as (
    select ${sums('quantity', 'amount')}
    from (select part.*, event_at as start_at from part where attribute_name is null) as whole
    group by 1, 2, 3, 4
  ),
  waiting as (
    select ${sums('delta.quantity', 'delta.amount')}
    from (${pendingPartsSql}) as delta
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = delta.combination_id and part.position = delta.position
      and part.attribute_name is null
    where ${inPeriod('start_at')}
    group by 1, 2, 3, 4
  ),
  kept as (
    select grain, ${sums('value.quantity', 'value.amount')}
    from usage_total cross join unnest(quantities, amounts) with ordinality
      as value (quantity, amount, position)
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = usage_total.combination_id and part.position = value.position
      and part.attribute_name is null
    where usage_total.tenant_id = :tenantId and ${inPeriod('start_at')}
    group by 1, 2, 3, 4, 5
  ),
  signed as (
    select grain, day, account_id, service_id, currency, quantity, amount, true as is_recorded from kept
    union all
    select grain, day, case grain when 'day' then account_id end, service_id, currency, quantity,
      amount, is_recorded
    from (select *, true as is_recorded from waiting union all select *, false from fact) as fine
    cross join (values ('day'), ('coarse hour'), ('coarse day')) as grains (grain)
  ),
  compared as (
    select grain, day, account_id, service_id, currency,
      sum(case when is_recorded then amount else 0 end) as recorded_amount,
      sum(case when is_recorded then 0 else amount end) as computed_amount,
      sum(case when is_recorded then quantity else 0 end) as recorded_quantity,
      sum(case when is_recorded then 0 else quantity end) as computed_quantity
    from signed group by 1, 2, 3, 4, 5
  )
  select (count(*) over ())::integer as "count", grain, (day at time zone 'UTC')::date::text as "day",
    coalesce(account_id, service_id) as "ownerId", currency, field, recorded::text, computed::text
  from compared cross join lateral (values
    ('amount', recorded_amount, computed_amount), ('quantity', recorded_quantity, computed_quantity)
  ) as pair (field, recorded, computed)
  where recorded <> computed
    and not exists (select from usage_total_rebuild where tenant_id = :tenantId)
  order by grain, day, "ownerId", currency, field limit ${differencesMax}`;

interface TotalRow {
  readonly count: number;
  readonly grain: string;
  readonly day: string;
  readonly ownerId: string;
  readonly currency: string;
  readonly field: string;
  readonly recorded: string;
  readonly computed: string;
}

/** Compares the totals of a period with its rated transactions, whatever the sample. */
export async function auditTotals(
  { db, tenantId }: Scope,
  { periodStart, periodEnd }: UsageAuditInput,
): Promise<{ readonly count: number; readonly differences: UsageDifference[] }> {
  const rows = await sqlRows<TotalRow>(db.read, totalsSql, { tenantId, periodStart, periodEnd });
  const differences = rows.map(
    ({ grain, day, ownerId, currency, field, recorded, computed }): UsageDifference => ({
      kind: 'total',
      field: `${field} in ${currency} of ${day} (${grain})`,
      recorded: decimalText(new Decimal(recorded)),
      computed: decimalText(new Decimal(computed)),
      ratedTransactionId: null,
      externalTransactionId: null,
      ownerId,
      counterId: null,
    }),
  );
  return { count: rows[0]?.count ?? 0, differences };
}
