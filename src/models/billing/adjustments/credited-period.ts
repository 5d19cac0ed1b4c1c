import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';

/** A period of a minimum or a commitment, as the invoices that are not void have it. */
export interface CreditedPeriod {
  readonly adjustmentId: string;
  readonly accountId: string;
  readonly currency: string;
  /** The days of the period, `[start, end)`. */
  readonly start: string;
  readonly end: string;
  /** What was billed for it, what of it was taken back later, and what grants have paid; decimal text. */
  readonly charged: string;
  readonly lowered: string;
  readonly paid: string;
  /** What notes have credited of it, and of what grants have paid. */
  readonly noted: string;
  readonly notedPaid: string;
  /** The first invoice of which notes have credited it, else of those that billed it. */
  readonly invoiceId: string;
  readonly invoiceNo: string;
  /** What of what was taken back notes had credited before, by tax code. */
  readonly before: readonly { readonly taxCode: string | null; readonly amount: string }[];
  /** The items of each invoice that billed it. */
  readonly items: readonly { readonly invoiceId: string; readonly itemId: string }[];
}

/** Periods that are asked for: some, all of an invoice, and those with something that was credited before. */
export interface AskedPeriods {
  readonly periods: readonly {
    readonly adjustmentId: string;
    readonly accountId: string;
    readonly start: string;
  }[];
  readonly invoiceId: string | null;
  readonly accountIds: readonly string[];
}

const periodsSql = `
  with asked as (
    select * from unnest(:adjustments::uuid[], :accounts::uuid[], :starts::date[])
      as given (adjustment_id, account_id, period_start)
    union
    select adjustment_id, account_id, period_start from adjustment_charge
    where tenant_id = :tenantId and invoice_id = :invoiceId::uuid
    union
    select adjustment_id, account_id, adjusted_from from billed_difference
    where tenant_id = :tenantId and account_id = any(:accountIds::uuid[])
      and is_credited and voided_at is null and adjustment_id is not null
  ), own as (
    select charge.*, invoice.invoice_no, item.credited_amount,
      greatest(charge.amount, 0) as charged, greatest(-charge.amount, 0) as lowered,
      case when charge.amount < 0 then 0
        when item.credited_amount = item.amount then charge.amount
        else item.credited_amount end as noted,
      coalesce(grants.paid, 0) as paid,
      coalesce(grants.paid * credits.credited_amount / nullif(credits.amount, 0), 0) as noted_paid
    from asked join adjustment_charge as charge on charge.tenant_id = :tenantId
      and charge.account_id = asked.account_id and charge.period_start = asked.period_start
      and charge.adjustment_id = asked.adjustment_id
    join invoice on invoice.tenant_id = :tenantId and invoice.id = charge.invoice_id
    join invoice_item as item
      on item.tenant_id = :tenantId and item.id = charge.invoice_item_id
    left join lateral (
      select -sum(entry.amount) as paid from wallet_entry as entry
      where entry.tenant_id = :tenantId and entry.charge_id = charge.id
    ) as grants on true
    left join invoice_item as credits on credits.tenant_id = :tenantId
      and credits.invoice_id = item.invoice_id and credits.charge_type = 'Credits'
      and credits.tax_rate is not distinct from item.tax_rate
    where charge.voided_at is null and charge.kind in ('minimum', 'commitment')
  )
  select adjustment_id as "adjustmentId", account_id as "accountId", currency,
    period_start::text as "start", max(period_end)::text as "end",
    sum(charged)::text as "charged", sum(lowered)::text as "lowered", sum(paid)::text as "paid",
    sum(noted)::text as "noted", sum(noted_paid)::text as "notedPaid",
    (array_agg(invoice_id order by credited_amount = 0, created_at))[1] as "invoiceId",
    (array_agg(invoice_no order by credited_amount = 0, created_at))[1] as "invoiceNo",
    coalesce((
      select jsonb_agg(jsonb_build_object('taxCode', known.tax_code, 'amount', known.amount::text))
      from (
        select tax_code, sum(amount) as amount from billed_difference as one
        where one.tenant_id = :tenantId and one.account_id = own.account_id
          and one.adjustment_id = own.adjustment_id and one.adjusted_from = own.period_start
          and one.is_credited and one.voided_at is null
        group by tax_code having sum(amount) <> 0 order by tax_code
      ) as known
    ), '[]') as "before",
    coalesce(jsonb_agg(jsonb_build_object('invoiceId', invoice_id, 'itemId', invoice_item_id))
      filter (where amount > 0), '[]') as "items"
  from own group by adjustment_id, account_id, currency, period_start
  having sum(charged) > 0 order by period_start, adjustment_id, account_id`;

/** What notes have credited of the top-ups and true-ups of periods. */
export function readCreditedPeriods(
  db: Knex,
  tenantId: string,
  { periods, invoiceId, accountIds }: AskedPeriods,
): Promise<CreditedPeriod[]> {
  return sqlRows<CreditedPeriod>(db, periodsSql, {
    tenantId,
    invoiceId,
    accountIds: [...accountIds],
    adjustments: periods.map(({ adjustmentId }) => adjustmentId),
    accounts: periods.map(({ accountId }) => accountId),
    starts: periods.map(({ start }) => start),
  });
}
