import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';

/** How much more the charges of an adjustment come to in a period than in the books; decimal text. */
export interface PeriodDifference {
  readonly accountId: string;
  readonly adjustmentId: string;
  readonly periodStart: string;
  readonly difference: string;
}

/** What an adjustment makes of a period, in the books and as it would be; decimals are text. */
export interface RepricedPeriod {
  readonly accountId: string;
  readonly adjustmentId: string;
  readonly periodStart: string;
  readonly isTried: boolean;
  readonly kind: string;
  readonly value: string;
  readonly currency: string;
  readonly periodEnd: string;
  readonly spentBefore: string;
  readonly spentAfter: string;
  readonly before: string;
  readonly after: string;
}

/** Adds differences to those that are known. */
export async function addDifferences(
  trx: Knex.Transaction,
  tenantId: string,
  repricingId: string,
  differences: readonly PeriodDifference[],
): Promise<void> {
  if (differences.length === 0) return;
  await sqlRows(
    trx,
    `insert into repricing_period
       (tenant_id, repricing_id, account_id, adjustment_id, period_start, difference)
     select :tenantId, :repricingId, each.*
     from unnest(:accounts::uuid[], :adjustments::uuid[], :starts::date[], :differences::numeric[])
       as each (account_id, adjustment_id, period_start, difference)
     order by 3, 4, 5
     on conflict (tenant_id, repricing_id, account_id, adjustment_id, period_start) do update
       set difference = repricing_period.difference + excluded.difference`,
    {
      tenantId,
      repricingId,
      accounts: differences.map(({ accountId }) => accountId),
      adjustments: differences.map(({ adjustmentId }) => adjustmentId),
      starts: differences.map(({ periodStart }) => periodStart),
      differences: differences.map(({ difference }) => difference),
    },
  );
}

/** The differences of the next accounts whose periods are not done; whoever else works on it waits. */
export async function nextDifferences(
  trx: Knex.Transaction,
  tenantId: string,
  repricingId: string,
  accountsMax: number,
): Promise<PeriodDifference[]> {
  const of = { tenantId, repricingId };
  await sqlRows(
    trx,
    `select from repricing_run where tenant_id = :tenantId and repricing_id = :repricingId for update`,
    of,
  );
  return sqlRows<PeriodDifference>(
    trx,
    `select account_id as "accountId", adjustment_id as "adjustmentId",
       period_start::text as "periodStart", difference::text
     from repricing_period where tenant_id = :tenantId and repricing_id = :repricingId
       and account_id in (
         select distinct account_id from repricing_period
         where tenant_id = :tenantId and repricing_id = :repricingId and not is_done
         order by account_id limit :accountsMax
       )`,
    { ...of, accountsMax },
  );
}

/** Writes what adjustments make of the periods of some accounts, in place of their differences. */
export async function writePeriods(
  trx: Knex.Transaction,
  tenantId: string,
  repricingId: string,
  accountIds: readonly string[],
  periods: readonly RepricedPeriod[],
): Promise<void> {
  const of = { tenantId, repricingId };
  await sqlRows(
    trx,
    `delete from repricing_period where tenant_id = :tenantId and repricing_id = :repricingId
       and account_id = any(:accountIds::uuid[])`,
    { ...of, accountIds },
  );
  await sqlRows(
    trx,
    `insert into repricing_period (tenant_id, repricing_id, account_id, adjustment_id, period_start,
       is_done, is_tried, kind, value, currency, period_end, spent_before, spent_after, before, after)
     select :tenantId, :repricingId, "accountId", "adjustmentId", "periodStart", true, "isTried", kind,
       value, currency, "periodEnd", "spentBefore", "spentAfter", before, after
     from jsonb_to_recordset(:periods::jsonb) as each ("accountId" uuid, "adjustmentId" uuid,
       "periodStart" date, "isTried" boolean, kind text, value numeric, currency text,
       "periodEnd" date, "spentBefore" numeric, "spentAfter" numeric, before numeric, after numeric)`,
    { ...of, periods: JSON.stringify(periods) },
  );
  // An account without usage pays nothing in the books, and what a minimum asks for if it were.
  await sqlRows(
    trx,
    `insert into repricing_account (tenant_id, repricing_id, account_id, currency, before, after, charges)
     select :tenantId, :repricingId, "accountId", currency, 0, sum(after - before), 0
     from jsonb_to_recordset(:periods::jsonb)
       as each ("accountId" uuid, currency text, before numeric, after numeric)
     group by "accountId", currency having sum(after - before) <> 0 order by 3, 4
     on conflict (tenant_id, repricing_id, account_id, currency) do update
       set after = repricing_account.after + excluded.after`,
    { ...of, periods: JSON.stringify(periods) },
  );
}

/** What adjustments make of the periods of these accounts. */
export const readPeriods = (
  db: Knex,
  tenantId: string,
  repricingId: string,
  accountIds: readonly string[],
): Promise<RepricedPeriod[]> =>
  sqlRows<RepricedPeriod>(
    db,
    `select account_id as "accountId", adjustment_id as "adjustmentId",
       period_start::text as "periodStart", is_tried as "isTried", kind, value::text, currency,
       period_end::text as "periodEnd", spent_before::text as "spentBefore",
       spent_after::text as "spentAfter", before::text, after::text
     from repricing_period where tenant_id = ? and repricing_id = ? and is_done
       and account_id = any(?::uuid[])
     order by period_start, kind, adjustment_id`,
    [tenantId, repricingId, accountIds],
  );
