import type { Knex } from 'knex';

/** Rated usage of one invoice that becomes one item; sums are exact decimal text. */
export interface UsageGroup {
  readonly invoiceId: string;
  readonly itemId: string;
  readonly accountId: string;
  readonly currency: string;
  readonly usageType: string;
  readonly serviceId: string;
  /** The priceable attribute; null where pricing logic made the amount. */
  readonly dimensionId: string | null;
  readonly dimensionName: string | null;
  readonly priceMethod: string | null;
  /** Null where transactions of several rates are one item. */
  readonly rate: string | null;
  readonly taxCode: string | null;
  /** The label of the card's row; null where several rows are one item. */
  readonly label: string | null;
  readonly volume: string;
  readonly amount: string;
  readonly firstDate: string;
  readonly lastDate: string;
  /** Null where the transactions are of several, or of none. */
  readonly contractId: string | null;
  readonly contractServiceId: string | null;
  /** Whether some of the transactions belong to no contract. */
  readonly hasOther: boolean;
  /** How many transactions have a part in it. */
  readonly parts: number;
  /** Those of them that are counted here: each once among the groups. */
  readonly transactions: number;
}

export interface UsageSelection {
  readonly accountIds: readonly string[];
  /** The last day, inclusive. */
  readonly until: string;
  /** Lines whose usage is due only until an earlier day. */
  readonly cutoffs: readonly { readonly lineId: string; readonly until: string }[];
  /** Ids of invoices and items follow from it. */
  readonly seed: string;
  /** Whether the transactions become billed, by the same statement. */
  readonly isClaimed: boolean;
}

/** What of each transaction is part of which item. */
const partsSql = `
  with cutoff as (
    select * from unnest(?::uuid[], ?::date[]) as given (line_id, until)
  ), unbilled as materialized (
    select t.id, t.account_id, t.currency, t.usage_type, t.service_id, t.contract_id,
      t.contract_service_id, t.plan_id, t.amount, t.quantity, t.transaction_date,
      seeded_uuid(?::uuid, t.account_id || t.currency || t.usage_type) as invoice_id
    from rated_transaction as t left join cutoff on cutoff.line_id = t.contract_service_id
    where t.tenant_id = ? and t.account_id = any(?::uuid[]) and not t.billed
      and t.transaction_date <= ?::date
      and (cutoff.until is null or t.transaction_date <= cutoff.until)
  ), plan as materialized (
    -- Whether the rows of the card are summed; with pricing logic the amount is one whole.
    select id, not jsonb_path_exists(
      plan, '$.logics[*] \\? (@.chargeType == null || @.chargeType == "Usage" || @.chargeType == "All")'
    ) as has_rows
    from rating_plan
    where tenant_id = ? and id in (select distinct plan_id from unbilled)
  ), part as materialized (
    select u.*, d.dimension_id, d.dimension_name, d.price_method_type as price_method,
      -- Tiers have no one rate: each event has an average of its own.
      case when d.price_method_type <> 'TIERED' then trim_scale(d.rate) end as rate,
      card_row.tax_code, card_row.label, d.volume, d.calc_amount as part_amount,
      d.position = 0 as is_first
    from unbilled as u join plan on plan.id = u.plan_id and plan.has_rows
    join rated_dimension as d on d.tenant_id = ? and d.transaction_id = u.id
    left join rate_card_row as card_row
      on card_row.tenant_id = d.tenant_id and card_row.id = d.rate_card_row_id
    union all
    select u.*, null, null, null, null, first_row.tax_code, null, u.quantity, u.amount, true
    from unbilled as u left join plan on plan.id = u.plan_id
    left join lateral (
      select card_row.tax_code from rated_dimension as d join rate_card_row as card_row
        on card_row.tenant_id = d.tenant_id and card_row.id = d.rate_card_row_id
      where d.tenant_id = ? and d.transaction_id = u.id order by d.position limit 1
    ) as first_row on true
    where plan.has_rows is not true
  ), keyed as materialized (
    select part.*, seeded_uuid(invoice_id, concat_ws('/', service_id, dimension_id, dimension_name,
      price_method, rate, tax_code)) as item_id
    from part
  )`;

/** Marks the transactions; one of which all parts are on one item also names the item. */
const claimedSql = `claimed as (
    update rated_transaction as t
    set billed = true, invoice_id = whole.invoice_id, invoice_item_id = whole.item_id
    from (
      select id, invoice_id,
        case when min(item_id::text) = max(item_id::text) then min(item_id::text)::uuid end
          as item_id
      from keyed group by id, invoice_id
    ) as whole
    where t.tenant_id = ? and t.id = whole.id
  )`;

const groupsSql = `
  select invoice_id as "invoiceId", item_id as "itemId", account_id as "accountId",
    currency, usage_type as "usageType", service_id as "serviceId",
    dimension_id as "dimensionId", dimension_name as "dimensionName",
    price_method as "priceMethod", rate, tax_code as "taxCode",
    case when min(label) = max(label) then min(label) end as "label",
    sum(volume) as "volume", sum(part_amount) as "amount",
    min(transaction_date) as "firstDate", max(transaction_date) as "lastDate",
    case when min(contract_id::text) = max(contract_id::text) then min(contract_id::text) end
      as "contractId",
    case when min(contract_service_id::text) = max(contract_service_id::text)
      and count(contract_service_id) = count(*) then min(contract_service_id::text) end
      as "contractServiceId",
    count(contract_id) < count(*) as "hasOther",
    count(*)::integer as "parts", count(*) filter (where is_first)::integer as "transactions"
  from keyed
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  order by 3, 4, 5, 6, 8, 9, 10, 11, 2`;

/**
 * Rated transactions that no invoice has yet, as items: by account, currency and usage type, then by
 * service, attribute, price method, rate and tax code (docs/decisions/0102). One statement reads,
 * sums and, where asked, marks them, so that nothing can be in the one and not in the other.
 */
export async function takeUnbilledUsage(
  db: Knex,
  tenantId: string,
  { accountIds, until, cutoffs, seed, isClaimed }: UsageSelection,
): Promise<UsageGroup[]> {
  const sql = isClaimed ? `${partsSql}, ${claimedSql} ${groupsSql}` : `${partsSql} ${groupsSql}`;
  const { rows } = await db.raw<{ rows: UsageGroup[] }>(sql, [
    cutoffs.map(({ lineId }) => lineId),
    cutoffs.map((cutoff) => cutoff.until),
    ...[seed, tenantId, [...accountIds], until, tenantId, tenantId, tenantId],
    ...(isClaimed ? [tenantId] : []),
  ] as unknown as string[]);
  return rows;
}
