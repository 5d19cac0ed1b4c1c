import type { Knex } from 'knex';
import { mapInPortions } from '../../kernel/portions.js';
import { parseLong } from '../../kernel/text/parse-long.js';
import type { LineDays, LineTerms } from '../../kernel/time/billing-calendar.js';
import type { AccountFacts, RecurringLine } from '../../rating/index.js';
import { discountsOf } from '../usage/discount-facts.js';
import { attributesOf, cardsOf, sharesOf, type BilledService } from '../usage/rating-context.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** An account as a billing run sees it. */
export interface BillingAccount {
  readonly id: string;
  readonly name: string;
  readonly billingDay: number | null;
  readonly netTerm: string | null;
  /** Whether it pays no tax. */
  readonly isTaxExempt: boolean;
}

/** A contract line with the account of its contract. */
export interface BillingLine extends RecurringLine {
  readonly account: AccountFacts;
  readonly chargeFrequency: string | null;
  readonly billingFrequency: string | null;
  readonly subscriptionChargeType: string | null;
  /** The chain of lines that it replaced, in order. */
  readonly formerIds: readonly string[];
  /** The day on which the first line of the chain was created. */
  readonly knownSince: string;
}

/** How often a line is charged and billed: as it says, else as its service does. */
export function termsOf(line: BillingLine, service: BilledService): LineTerms {
  return {
    chargeFrequency: line.chargeFrequency ?? service.chargeFrequency,
    billingFrequency: line.billingFrequency ?? service.billingFrequency,
    isInAdvance: line.subscriptionChargeType === 'In Advance',
  };
}

/** On which days a line runs; both are inclusive. */
export function daysOf({ startDate, endDate, terminationDate }: BillingLine): LineDays {
  const ends = [endDate, terminationDate].filter((date) => date !== null).sort();
  return { first: startDate, last: ends[0] ?? null };
}

/** The accounts of these ids, in the order of the ids. */
export async function loadBillingAccounts(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<BillingAccount[]> {
  const rows = await sqlRows<BillingAccount>(
    db,
    `select id, name, billing_day as "billingDay", net_term as "netTerm",
       coalesce(profile -> 'taxExempt' = 'true', false) as "isTaxExempt"
     from account
     where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null
     order by id`,
    [tenantId, [...ids]],
  );
  return rows;
}

/** Maximum JSON bytes of the lines of accounts that are billed together. */
const lineBytesMax = 64 * 1024 * 1024;

/** Lines as one JSON text each; the bindings are those of `loadBillingLines`, in its order. */
const billingLinesSql = `with billing_card as materialized (
    select card.service_id, card.contract_service_id
    from rate_card_row as row join rate_card as card
      on card.tenant_id = row.tenant_id and card.id = row.rate_card_id
    where row.tenant_id = ? and row.billing_account_id = any(?::uuid[])
      and row.deleted_at is null and card.deleted_at is null
  ), chosen as (
    select line.id from contract join contract_service as line
      on line.tenant_id = contract.tenant_id and line.contract_id = contract.id
    where contract.tenant_id = ? and contract.master_account_id = any(?::uuid[])
      and contract.deleted_at is null and line.deleted_at is null
    union select contract_service_id from account_share as share
    where share.tenant_id = ? and share.account_id = any(?::uuid[])
    union select contract_service_id from billing_card where contract_service_id is not null
    union select line.id from billing_card join contract_service as line
      on line.tenant_id = ? and line.service_id = billing_card.service_id
      and line.deleted_at is null
  ), found as (
  select contract.number, line.id, json_build_object(
    'id', line.id, 'lineageId', coalesce(line.lineage_id, line.id),
    'formerIds', coalesce((
      select json_agg(former.id) from contract_service as former
      where former.tenant_id = line.tenant_id and former.id <> line.id
        and (former.lineage_id = line.lineage_id or former.id = line.lineage_id)
    ), '[]'),
    'knownSince', (coalesce((
      select first.created_at from contract_service as first
      where first.tenant_id = line.tenant_id and first.id = line.lineage_id
    ), line.created_at) at time zone 'UTC')::date,
    'contractId', contract.id, 'contractNumber', contract.number,
    'contractCurrency', contract.currency, 'serviceId', line.service_id,
    'serviceInstanceId', line.service_instance_id,
    'startDate', coalesce(line.start_date, contract.start_date),
    'endDate', least(line.end_date, contract.end_date),
    'terminationDate', line.termination_date,
    'chargeFrequency', line.charge_frequency, 'billingFrequency', line.billing_frequency,
    'subscriptionChargeType', line.subscription_charge_type,
    'account', json_build_object(
      'id', account.id, 'externalId', coalesce(account.external_id, ''),
      'isActive', account.status = 'Active', 'defaultCurrency', account.default_currency
    ),
    'attributes', ${attributesOf('line', 'contract_service_id')},
    'cards', ${cardsOf('line', 'contract_service_id')},
    'shares', ${sharesOf('line')},
    'adjustments', ${discountsOf('account.id', 'account.tenant_id')}
  )::text as "line"
  from chosen
  join contract_service as line on line.tenant_id = ? and line.id = chosen.id
  join contract on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
  join account on account.tenant_id = line.tenant_id and account.id = contract.master_account_id
  where line.deleted_at is null and contract.deleted_at is null and account.deleted_at is null
  )
  select case when sum(octet_length(line)) over () <= ? then line end as "line"
  from found order by number, id`;

/**
 * The lines that may charge these accounts: those of their contracts, those of which they bear a
 * share, and those with a card row that bills one of them. Undefined: their attributes, prices and
 * shares exceed 64 MiB; PostgreSQL measures that before it sends them.
 */
export async function loadBillingLines(
  db: Knex,
  tenantId: string,
  accountIds: readonly string[],
  bytesMax = lineBytesMax,
): Promise<BillingLine[] | undefined> {
  const ids = [...accountIds];
  const rows = await sqlRows<{ line: string | null }>(db, billingLinesSql, [
    tenantId,
    ids,
    tenantId,
    ids,
    tenantId,
    ids,
    tenantId,
    tenantId,
    bytesMax,
  ]);
  const texts = rows.map(({ line }) => line);
  if (texts[0] === null) return undefined;
  return mapInPortions(texts as string[], (text) => parseLong<BillingLine>(text));
}

/**
 * Which of these accounts nothing can charge any more after a day: they had contract lines, and all that
 * may charge them have ended by then.
 */
export async function findEndedAccounts(
  db: Knex,
  tenantId: string,
  accountIds: readonly string[],
  day: string,
): Promise<ReadonlySet<string>> {
  if (accountIds.length === 0) return new Set();
  const rows = await sqlRows<{ id: string }>(
    db,
    `with charging as (
       select contract.master_account_id as account_id, line.id, true as is_own
       from contract join contract_service as line
         on line.tenant_id = :tenantId and line.contract_id = contract.id
       where contract.tenant_id = :tenantId
         and contract.master_account_id = any(:accountIds::uuid[])
       union all
       select account_id, contract_service_id, false from account_share
       where tenant_id = :tenantId and account_id = any(:accountIds::uuid[])
       union all
       select row.billing_account_id, line.id, false
       from rate_card_row as row join rate_card as card
         on card.tenant_id = :tenantId and card.id = row.rate_card_id and card.deleted_at is null
       join contract_service as line on line.tenant_id = :tenantId
         and (line.id = card.contract_service_id or line.service_id = card.service_id)
       where row.tenant_id = :tenantId and row.billing_account_id = any(:accountIds::uuid[])
         and row.deleted_at is null
     )
     select charging.account_id as "id" from charging
     join contract_service as line on line.tenant_id = :tenantId and line.id = charging.id
     join contract on contract.tenant_id = :tenantId and contract.id = line.contract_id
     where line.deleted_at is null and contract.deleted_at is null
     group by charging.account_id
     having bool_or(is_own) and bool_and(coalesce(
       least(line.end_date, contract.end_date, line.termination_date) <= :day::date, false))`,
    { tenantId, accountIds: [...accountIds], day },
  );
  return new Set(rows.map(({ id }) => id));
}
