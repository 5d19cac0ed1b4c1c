import type { Knex } from 'knex';
import type { Frequency } from '../../../kernel/time/period.js';
import type { ChargeScope } from '../../../models/billing/adjustments/adjustment-charge.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { periodKinds, type PeriodKind } from '../../../rating/index.js';

/** A maximum, minimum or commitment as a billing run sees it. */
export interface PeriodAdjustment extends ChargeScope {
  readonly id: string;
  readonly kind: PeriodKind;
  /** Decimal text. */
  readonly value: string;
  readonly period: Frequency;
  readonly from: string;
  /** The first day on which it holds no more: of itself, its contract or its line; null: none. */
  readonly to: string | null;
  /** The day up to which the account was billed before this run; null: never. */
  readonly billedUntil: string | null;
  /** What was agreed for periods that runs have brought to it, by the first day of each. */
  readonly settled: Readonly<Record<string, string>>;
}

/** Whether a tenant has any maximum, minimum or commitment, of whatever time. */
export async function hasPeriodAdjustments(db: Knex, tenantId: string): Promise<boolean> {
  const [row] = await sqlRows<{ isThere: boolean }>(
    db,
    `select exists (
       select from adjustment where tenant_id = ? and kind = any(?::text[])
     ) as "isThere"`,
    [tenantId, [...periodKinds]],
  );
  return row?.isThere === true;
}

/**
 * The maximums, minimums and commitments that bill these accounts: their own, and those of their
 * contracts and lines. Those of contracts and lines end with them.
 */
export function loadPeriodAdjustments(
  db: Knex,
  tenantId: string,
  accountIds: readonly string[],
): Promise<PeriodAdjustment[]> {
  return sqlRows<PeriodAdjustment>(
    db,
    `with owner as (
       select unnest(:accountIds::uuid[]) as account_id
     ), agreed as (
       select owner.account_id, id as contract_id, end_date
       from owner join contract on contract.tenant_id = :tenantId
         and contract.master_account_id = owner.account_id and contract.deleted_at is null
     ), found as (
       select adjustment.*, owner.account_id as billed_id, null::uuid as of_contract,
         null::uuid as lineage_id, null::date as last_day
       from owner join adjustment
         on adjustment.tenant_id = :tenantId and adjustment.account_id = owner.account_id
       union all
       select adjustment.*, agreed.account_id, agreed.contract_id, null, agreed.end_date
       from agreed join adjustment
         on adjustment.tenant_id = :tenantId and adjustment.contract_id = agreed.contract_id
       union all
       select adjustment.*, agreed.account_id, agreed.contract_id, coalesce(sold.lineage_id, sold.id),
         (select case when bool_or(least(line.end_date, line.termination_date) is null)
            then agreed.end_date
            else least(max(least(line.end_date, line.termination_date)), agreed.end_date) end
          from contract_service as line
          where line.tenant_id = :tenantId and line.contract_id = agreed.contract_id
            and coalesce(line.lineage_id, line.id) = coalesce(sold.lineage_id, sold.id)
            and line.deleted_at is null)
       from agreed join contract_service as sold
         on sold.tenant_id = :tenantId and sold.contract_id = agreed.contract_id
       join adjustment
         on adjustment.tenant_id = :tenantId and adjustment.contract_service_id = sold.id
     )
     select found.id, found.kind, trim_scale(found.value)::text as "value", found.currency,
       found.period, found.billed_id as "accountId", found.of_contract as "contractId",
       found.lineage_id as "lineageId", found.service_id as "serviceId",
       found.from_date::text as "from", least(found.to_date, found.last_day + 1)::text as "to",
       known.billed_until::text as "billedUntil", coalesce((
         select jsonb_object_agg(period.period_start::text, trim_scale(period.value)::text)
         from adjusted_period as period where period.tenant_id = :tenantId
           and period.account_id = found.billed_id and period.adjustment_id = found.id
       ), '{}') as "settled"
     from found left join billed_usage as known
       on known.tenant_id = :tenantId and known.account_id = found.billed_id
     where found.deleted_at is null and found.period is not null order by found.id`,
    { tenantId, accountIds: [...accountIds] },
  );
}
