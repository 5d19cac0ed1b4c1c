import { Decimal, decimalText } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { foreverPeriod, frequencies, periodOf } from '../../kernel/time/period.js';
import { differencesMax, type UsageDifference } from '../../messages/usage/usage-audit.js';
import { noAccount } from '../../models/balances/alert.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { pendingPartsSql } from '../../models/usage/usage-total.js';

/**
 * What alerts have counted in their running periods, against what was charged in them, and the balances
 * of wallets. Usage is that of the totals, which the audit compares with the charges. One statement, so
 * that all is of the same snapshot.
 */
const figuresSql = `
  with running as (
    select * from unnest(:periods::text[], :starts::date[], :ends::date[])
      as running (period, period_start, period_end)
  ),
  part as (
    select part.account_id, part.contract_id, part.service_id, part.currency, part.attribute_name,
      (start_at at time zone 'UTC')::date as day, quantity, amount
    from (
      select combination_id, position, start_at, quantity, amount
      from usage_total cross join unnest(quantities, amounts) with ordinality
        as value (quantity, amount, position)
      where tenant_id = :tenantId and grain = 'day'
      union all
      select combination_id, position, start_at, quantity, amount
      from (${pendingPartsSql}) as pending
    ) as moved
    join usage_combination_part as part on part.tenant_id = :tenantId
      and part.combination_id = moved.combination_id and part.position = moved.position
    where part.usage_type = 'Charge'
    union all
    select account_id, contract_id, service_id, currency, null, bill_start_date, 0, amount
    from recurring_charge
    where tenant_id = :tenantId and voided_at is null and usage_type = 'Charge'
  ),
  summed as (
    select period, account_id, contract_id, service_id, currency, attribute_name,
      sum(quantity) as quantity, sum(amount) as amount
    from running join part on day >= period_start and day < period_end
    group by 1, 2, 3, 4, 5, 6
  ),
  figure as (
    select alert.*, figure.account_id as counted_account_id, figure.currency as counted_currency,
      figure.value
    from alert_figure as figure
    join alert on alert.tenant_id = :tenantId and alert.id = figure.alert_id
      and alert.deleted_at is null
    join running on running.period = alert.period and running.period_start = figure.period_start
    where figure.tenant_id = :tenantId
  ),
  compared as (
    select name, measure, counted_currency as currency, value as recorded,
      coalesce(account_id, nullif(counted_account_id, '${noAccount}'), id) as owner_id,
      coalesce((
        select sum(case figure.measure when 'spend' then summed.amount else summed.quantity end)
        from summed where summed.period = figure.period
          and (figure.counted_account_id = '${noAccount}'
            or summed.account_id = figure.counted_account_id)
          and (figure.account_id is null or summed.account_id = figure.account_id)
          and (figure.contract_id is null or summed.contract_id = figure.contract_id)
          and (figure.service_id is null or summed.service_id = figure.service_id)
          and case figure.measure
            when 'spend' then summed.attribute_name is null
              and summed.currency = figure.counted_currency
            else summed.attribute_name = figure.attribute end
      ), 0) as computed
    from figure where measure <> 'balance'
    union all
    select name, measure, coalesce(wallet.currency, ''), value, wallet_id, wallet.balance
    from figure join wallet_balance as wallet using (tenant_id, wallet_id) where measure = 'balance'
  )
  select (count(*) over ())::integer as count, name, measure, currency, owner_id as "ownerId",
    recorded::text, computed::text
  from compared where recorded <> computed
    and not exists (select from usage_total_rebuild where tenant_id = :tenantId)
  order by name, owner_id, currency limit ${differencesMax}`;

interface FigureRow {
  readonly count: number;
  readonly name: string;
  readonly measure: string;
  readonly currency: string;
  readonly ownerId: string;
  readonly recorded: string;
  readonly computed: string;
}

/** Compares the figures of alerts with what they count, in the periods that run now. */
export async function auditFigures({ db, tenantId, now }: Scope): Promise<{
  readonly count: number;
  readonly differences: readonly UsageDifference[];
}> {
  const today = utcDate(now());
  const periods = [
    ...frequencies.map((name) => ({ name, ...periodOf(name, today) })),
    { name: 'Lifetime', ...foreverPeriod },
  ];
  const rows = await sqlRows<FigureRow>(db.read, figuresSql, {
    tenantId,
    periods: periods.map(({ name }) => name),
    starts: periods.map(({ start }) => start),
    ends: periods.map(({ end }) => end),
  });
  return {
    count: rows[0]?.count ?? 0,
    differences: rows.map(({ name, measure, currency, ownerId, recorded, computed }) => ({
      kind: 'alert',
      field: `${measure}${currency === '' ? '' : ` in ${currency}`} of '${name}'`,
      recorded: decimalText(new Decimal(recorded)),
      computed: decimalText(new Decimal(computed)),
      ratedTransactionId: null,
      externalTransactionId: null,
      ownerId,
      counterId: null,
    })),
  };
}
