import type { Knex } from 'knex';
import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import { sqlRows } from '../db/sql-rows.js';
import { pricedRowsSql } from '../usage/priced-row.js';
import { discountedSql, netOfRow } from './adjustments/discounted-usage.js';
import { correctedColumns, correctedSql, uncorrectedColumns } from './corrected-usage.js';

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
  /** Before discounts. */
  readonly amount: string;
  /** What discounts take off it. */
  readonly discounted: string;
  /** What grants have paid of it. */
  readonly credited: string;
  readonly firstDate: string;
  readonly lastDate: string;
  /** Null where the transactions are of several, or of none. */
  readonly contractId: string | null;
  readonly contractServiceId: string | null;
  /** Whether some of the transactions belong to no contract. */
  readonly hasOther: boolean;
  /** What each tier has charged; null of other prices. */
  readonly tiers: readonly ChargedTier[] | null;
  /** Where accounts share it: which part this is (kernel/numbers/share.ts), and the exact amount of all. */
  readonly shareFrom: string | null;
  readonly shareTo: string | null;
  readonly shareOf: string | null;
  readonly sharedAmount: string | null;
  /** The invoice whose charges it corrects; null of usage that no invoice has had. */
  readonly correctedInvoiceId: string | null;
  /** Transactions with a part in it; one that has several parts is counted with its first. */
  readonly transactions: number;
}

export interface UsageSelection {
  readonly accountIds: readonly string[];
  /** The last day, inclusive. */
  readonly until: string;
  /** Lines whose usage is due only until an earlier day. */
  readonly cutoffs: readonly { readonly lineId: string; readonly until: string }[];
  /** Seed from which the ids of invoices and items are derived. */
  readonly seed: string;
  /** The most groups of all accounts, items of one, and tiers below them (docs/decisions/0312). */
  readonly groupsMax: number;
  readonly itemsMax: number;
  readonly tiersMax: number;
}

/**
 * SQL of the accounts with the day up to which each is billed, and of lines with an earlier cutoff.
 */
export const billingSql = `
  cutoff as (
    select * from unnest(:lines::uuid[], :untils::date[]) as given (line_id, until)
  ), billing as materialized (
    select given.account_id, coalesce(known.billed_until, '-infinity') as billed_until
    from unnest(:accountIds::uuid[]) as given (account_id) left join billed_usage as known
      on known.tenant_id = :tenantId and known.account_id = given.account_id
  )`;

/** SQL for whether queued usage (late, not due earlier, or released by a void) is due now. */
export const isDueSql = `
  late.tenant_id = :tenantId and late.account_id = any(:accountIds::uuid[])
  and late.transaction_date <= :until::date
  and not exists (
    select from cutoff
    where cutoff.line_id = late.contract_service_id and late.transaction_date > cutoff.until
  )`;

/**
 * Properties of a selection that change the statement, since they affect its plan or the cost of
 * each row.
 */
interface UsageShape {
  /** The earliest day up to which one of the accounts is billed. */
  readonly since: string;
  /** Whether other accounts are billed up to a later day. */
  readonly isMixed: boolean;
  /** Whether anything of the tenant was ever shared by accounts. */
  readonly hasShares: boolean;
  /** Whether some lines have an earlier cutoff. */
  readonly hasCutoffs: boolean;
  /** Whether grants may have paid something of it. */
  readonly hasCredits: boolean;
  /** Whether usage of the tenant was ever corrected. */
  readonly hasCorrections: boolean;
  /** Whether the tenant ever had adjustments, and so perhaps discounts. */
  readonly hasDiscounts: boolean;
}

/**
 * The unbilled usage: all of the days that are not billed yet, and queued transactions of earlier
 * days, each with its priced rows. Usually all accounts are billed up to the same day and all usage
 * is due; then unneeded joins are left out, so that the planner estimates the row count correctly.
 */
function unbilledSql({
  isMixed,
  hasCutoffs,
  hasShares,
  hasCredits,
  hasCorrections,
  hasDiscounts,
}: UsageShape): string {
  const columns = `t.id, t.account_id, t.currency, t.usage_type, t.service_id, t.contract_id,
      t.contract_service_id, t.plan_id, t.transaction_date, t.quantity, t.amount,
      ${hasDiscounts ? 't.discount' : '0::numeric'} as discount,
      d.rate_card_row_id, d.dimension_id, d.dimension_name, d.price_method_type, d.rate, d.position,
      d.volume, d.calc_amount, d.counter_before, ${hasShares ? sharedColumns : unsharedColumns},
      ${hasCredits ? 'coalesce(paid.amount, 0)' : '0::numeric'} as paid
      ${hasCorrections ? correctedColumns : uncorrectedColumns}`;
  const paid = hasCredits ? paidSql : '';
  return `
  ${hasCorrections ? 'found' : 'unbilled'} as (
    select ${columns} from rated_transaction as t
    ${isMixed ? 'join billing on billing.account_id = t.account_id and billing.billed_until < t.transaction_date' : ''}
    ${hasCutoffs ? 'left join cutoff on cutoff.line_id = t.contract_service_id' : ''}
    ${pricedRowsSql('left join')} ${paid}
    where t.tenant_id = :tenantId and t.account_id = any(:accountIds::uuid[])
      and t.transaction_date > :since::date and t.transaction_date <= :until::date
      ${hasCutoffs ? 'and (cutoff.until is null or t.transaction_date <= cutoff.until)' : ''}
    union all
    select ${columns}
    from queued join billing on billing.account_id = queued.account_id
    join rated_transaction as t on t.tenant_id = :tenantId and t.id = queued.transaction_id
    ${pricedRowsSql('left join')} ${paid}
    where queued.transaction_date <= billing.billed_until
  )${
    hasCorrections
      ? `,
  ${correctedSql}`
      : ''
  }`;
}

/** What grants have paid of a transaction. */
const paidSql = `left join lateral (
      select -sum(entry.amount) as amount from wallet_entry as entry
      where entry.tenant_id = :tenantId and entry.charge_id = t.id
    ) as paid on true`;

const sharedColumns = `t.share_from, t.share_to, t.share_of, t.shared_amount as shared_whole,
      d.shared_volume, d.shared_amount`;
/** Without shares in the tenant, six columns less are read of every transaction. */
const unsharedColumns = `null::numeric as share_from, null::numeric as share_to,
      null::numeric as share_of, null::numeric as shared_whole,
      null::numeric as shared_volume, null::numeric as shared_amount`;

/**
 * Transactions with their dimensions, first summed by the columns that distinguish items, then made
 * into items: one for each dimension group where card rows are summed; with pricing logic the whole
 * amount is one item, taxed as its first priced row. The first sum reads all rows, so it has no
 * other join.
 */
const itemsSql = ({ hasDiscounts }: UsageShape): string => `
  part as (
    select account_id, currency, usage_type, service_id, contract_id, contract_service_id, plan_id,
      rate_card_row_id, dimension_id, dimension_name, price_method_type,
      -- Tiers have no one rate: each event has an average of its own.
      -- Differences of several rates are one.
      case when price_method_type not in ('TIERED', 'VOLUME') and corrected_invoice_id is null
        then unbilled.rate end as rate,
      coalesce(position, 0) = 0 as is_first, share_from, share_to, share_of,
      corrected_invoice_id, sum(volume) as volume, sum(calc_amount) as amount,
      sum(quantity) as whole_volume,
      ${hasDiscounts ? 'sum(unbilled.amount + discount)' : 'sum(unbilled.amount)'} as whole_amount,
      ${hasDiscounts ? 'sum(row_discount)' : '0::numeric'} as discounted,
      ${hasDiscounts ? 'sum(discount)' : '0::numeric'} as whole_discounted,
      sum(shared_whole) as shared_whole, sum(shared_amount) as shared_amount,
      -- Of a row, in proportion; of all rows where all is paid.
      sum(case when paid = 0 then 0 when paid = unbilled.amount
          then coalesce(${netOfRow(hasDiscounts)}, 0)
        else round(${netOfRow(hasDiscounts)} * paid / unbilled.amount, 10) end) as credited,
      sum(paid) as whole_credited,
      min(transaction_date) as first_date, max(transaction_date) as last_date,
      array_agg(id) as ids,
      -- Where each event began on the tiers, and how far it went.
      array_agg(coalesce(counter_before, 0)) filter (where price_method_type = 'TIERED') as befores,
      array_agg(coalesce(shared_volume, unbilled.volume))
        filter (where price_method_type = 'TIERED') as volumes
    from ${hasDiscounts ? discountedSql : 'unbilled'}
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
  ), of_invoice as (
    select part.account_id, part.currency, part.usage_type, part.service_id, part.contract_id,
      part.contract_service_id, part.ids, part.first_date, part.last_date,
      case when plan.has_rows then part.rate_card_row_id end as row_id,
      case when plan.has_rows then part.dimension_id end as dimension_id,
      case when plan.has_rows then part.dimension_name end as dimension_name,
      case when plan.has_rows then part.price_method_type end as price_method,
      case when plan.has_rows then trim_scale(part.rate) end as rate,
      case when plan.has_rows then part.volume else part.whole_volume end as volume,
      case when plan.has_rows then part.amount else part.whole_amount end as amount,
      case when plan.has_rows then part.discounted else part.whole_discounted end as discounted,
      case when plan.has_rows then part.credited else part.whole_credited end as credited,
      case when plan.has_rows and not plan.plan @> '{"attributes": [{"aggregation": "LAST"}]}'
        then part.befores end as befores, part.volumes,
      case when part.is_first then cardinality(part.ids) else 0 end as transactions,
      part.share_from, part.share_to, part.share_of, part.corrected_invoice_id,
      case when plan.has_rows then part.shared_amount else part.shared_whole end as shared_amount,
      card_row.tax_code, case when plan.has_rows then card_row.label end as label,
      seeded_uuid(:seed::uuid, part.account_id || part.currency || part.usage_type)
        as invoice_id
    from part join rating_plan as plan
      on plan.tenant_id = :tenantId and plan.id = part.plan_id
      and (plan.has_rows or part.is_first)
    left join rate_card_row as card_row
      on card_row.tenant_id = :tenantId and card_row.id = part.rate_card_row_id
  ), of_item as materialized (
    -- What is shared is an item of its own for each line, so that the cents of all parts add up.
    select *, seeded_uuid(invoice_id, concat_ws('/', service_id, dimension_id, dimension_name,
      price_method, rate, tax_code,
      case when share_of is not null
        then concat_ws('/', contract_service_id, share_from, share_to, share_of) end,
      corrected_invoice_id)) as item_id
    from of_invoice
  )`;

/** SQL for the part of a sum that a share bears. */
const ofPart = (whole: string): string =>
  `case when share_of is null then ${whole}
        else round(${whole} * (share_to - share_from) / share_of, 10) end`;

/**
 * The volume and amount of each tier by item, for graduated prices only
 * (rating/price-methods/tiered.ts).
 */
const tiersSql = `
  tier as (
    select used.row_id, tier.*
    from (select distinct row_id from of_item where befores is not null) as used
    join rate_card_row as card_row
      on card_row.tenant_id = :tenantId and card_row.id = used.row_id
    cross join lateral (
      select (given.tier ->> 'tierNum')::integer as tier_num,
        -- A first tier from 1 is the whole-number way of writing from zero.
        coalesce(lag((given.tier ->> 'tierMaxVal')::numeric) over (order by number),
          nullif((given.tier ->> 'tierMinVal')::numeric, 1), 0) as lower,
        (given.tier ->> 'tierMaxVal')::numeric as upper,
        (given.tier ->> 'tierUnitRate')::numeric as unit_rate,
        coalesce((given.tier ->> 'flatRate')::boolean, false) as is_flat
      from jsonb_array_elements(card_row.rates -> 'rateCardTiers')
        with ordinality as given (tier, number)
    ) as tier
  ), tier_part as (
    select of_item.item_id, tier_num, lower, upper, unit_rate, is_flat,
      ${ofPart('sum(sign * (least(before + used.volume, upper) - greatest(before, lower)))')} as volume,
      ${ofPart(`sum(sign * case when not is_flat
          then unit_rate * (least(before + used.volume, upper) - greatest(before, lower))
        when before <= lower then unit_rate else 0 end)`)} as amount
    from of_item cross join lateral (
      -- A reversal takes back the stretch that its charge had.
      select before, abs(volume) as volume, sign(volume) as sign
      from unnest(of_item.befores, of_item.volumes) as given (before, volume)
    ) as used
    join tier on tier.row_id = of_item.row_id
      and least(before + used.volume, upper) > greatest(before, lower)
    group by 1, 2, 3, 4, 5, 6, share_from, share_to, share_of
  ), tiers_of_item as (
    select item_id, jsonb_agg(jsonb_build_object(
      'tierNum', tier_num, 'from', trim_scale(lower)::text, 'to', trim_scale(upper)::text,
      'volume', trim_scale(volume)::text, 'unitRate', trim_scale(unit_rate)::text,
      'isFlat', is_flat, 'amount', trim_scale(amount)::text
    ) order by lower, upper, unit_rate) as tiers
    from tier_part group by 1
  )`;

/**
 * The result: one row for each item, in a deterministic order; a single row if there are more than
 * may be billed together.
 */
const groupsSql = `
  grouped as (
  select invoice_id as "invoiceId", item_id as "itemId", account_id as "accountId",
    currency, usage_type as "usageType", service_id as "serviceId",
    dimension_id as "dimensionId", dimension_name as "dimensionName",
    price_method as "priceMethod", rate, tax_code as "taxCode",
    case when min(label) = max(label) then min(label) end as "label",
    sum(volume) as "volume", sum(amount) as "amount", sum(discounted) as "discounted",
    sum(credited) as "credited",
    min(first_date) as "firstDate", max(last_date) as "lastDate",
    case when min(contract_id::text) = max(contract_id::text) then min(contract_id::text) end
      as "contractId",
    case when min(contract_service_id::text) = max(contract_service_id::text)
      and count(contract_service_id) = count(*) then min(contract_service_id::text) end
      as "contractServiceId",
    count(contract_id) < count(*) as "hasOther", sum(transactions)::integer as "transactions",
    share_from as "shareFrom", share_to as "shareTo", share_of as "shareOf",
    sum(shared_amount) as "sharedAmount", corrected_invoice_id as "correctedInvoiceId"
  from of_item
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, share_from, share_to, share_of, corrected_invoice_id
  ), size as (
    select coalesce(sum(items), 0) > :groupsMax or coalesce(max(items), 0) > :itemsMax
      or coalesce((select sum(jsonb_array_length(tiers)) from tiers_of_item), 0) > :tiersMax
      as "isOver"
    from (select count(*) as items from grouped group by "accountId") as of_account
  )
  select grouped.*, tiers_of_item.tiers, size."isOver"
  from size left join grouped on not size."isOver"
  left join tiers_of_item on tiers_of_item.item_id = grouped."itemId"
  order by 3, 4, 5, 6, 8, 9, 10, 11, 2`;

/** The billed-until days of the accounts, and whether the tenant ever had shares. */
async function readUsageShape(
  db: Knex,
  tenantId: string,
  { accountIds, cutoffs }: UsageSelection,
): Promise<UsageShape> {
  const [row] = await sqlRows<Omit<UsageShape, 'hasCutoffs'>>(
    db,
    `select coalesce(min(billed_until), '-infinity')::text as "since",
       coalesce(min(billed_until) < max(billed_until), false) as "isMixed",
       exists (
         select from rating_plan where tenant_id = :tenantId and plan -> 'shares' is not null
       ) as "hasShares",
       exists (select from wallet_balance where tenant_id = :tenantId) as "hasCredits",
       exists (select from usage_correction where tenant_id = :tenantId) as "hasCorrections",
       exists (select from adjustment where tenant_id = :tenantId) as "hasDiscounts"
     from (
       select coalesce(known.billed_until, '-infinity') as billed_until
       from unnest(:accountIds::uuid[]) as given (account_id) left join billed_usage as known
         on known.tenant_id = :tenantId and known.account_id = given.account_id
     ) as account`,
    { tenantId, accountIds: [...accountIds] },
  );
  if (!row) throw new Error('An aggregate has one row.');
  return { ...row, hasCutoffs: cutoffs.length > 0 };
}

/** The named bindings of statements on a selection. */
export const selectionBindings = (
  tenantId: string,
  { accountIds, until, cutoffs, groupsMax, itemsMax, tiersMax }: UsageSelection,
) => ({
  tenantId,
  until,
  accountIds: [...accountIds],
  lines: cutoffs.map(({ lineId }) => lineId),
  untils: cutoffs.map((cutoff) => cutoff.until),
  groupsMax,
  itemsMax,
  tiersMax,
});

/**
 * Rated transactions that no invoice has yet, as items: by account, currency and usage type, then by
 * service, attribute, price method, rate and tax code (docs/decisions/0102). One statement: `queued`
 * selects the rows of `unbilled_usage` that are due, `more` has further CTEs on the items. So the
 * usage that is read and the usage that is claimed are the same.
 *
 * Given an account billed up to October with the transactions
 *
 *   2026-11-03  120 GB at 0.10 = 12.00, rated in November
 *   2026-11-09   30 GB at 0.10 =  3.00, rated in November
 *   2026-10-30   10 GB at 0.10 =  1.00, rated in November as well, so queued
 *
 * `until: '2026-11-30'` gives one item: volume 160, amount 16.00, rate 0.1, firstDate 2026-10-30,
 * lastDate 2026-11-09, transactions 3.
 *
 * Undefined if the limits of the selection are exceeded: the caller rolls its transaction back.
 */
export async function sumUsage(
  db: Knex,
  tenantId: string,
  selection: UsageSelection,
  { queued, more = '' }: { readonly queued: string; readonly more?: string },
): Promise<UsageGroup[] | undefined> {
  // A batch is sorted and hashed in memory; the setting ends with the transaction.
  await db.raw(`select set_config('work_mem', '64MB', true)`);
  const shape = await readUsageShape(db, tenantId, selection);
  const rows = await sqlRows<UsageGroup & { readonly isOver: boolean }>(
    db,
    `with ${billingSql},
     queued as (${queued}),
     ${unbilledSql(shape)},
     ${itemsSql(shape)},
     ${tiersSql}
     ${more},
     ${groupsSql}`,
    { ...selectionBindings(tenantId, selection), since: shape.since, seed: selection.seed },
  );
  if (rows[0]?.isOver === true) return undefined;
  // Without any groups, the outer join returns one empty row.
  return rows.filter(({ invoiceId }) => (invoiceId as string | null) !== null);
}
