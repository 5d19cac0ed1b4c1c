import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { listDroppedMonthsOf, refuseArchived } from '../usage/finding/dropped-month.js';
import {
  billingSql,
  isDueSql,
  selectionBindings,
  sumUsage,
  type UsageGroup,
  type UsageSelection,
} from './usage-items.js';

/**
 * Queues usage of these days that is not due yet. With `cutoffs: [{ lineId, until: '2026-11-14' }]`
 * of a selection until 2026-11-30, a transaction of that line of 2026-11-20 waits for a later run.
 */
const queueUndueSql = `
  with ${billingSql}
  insert into unbilled_usage
    (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
  select t.tenant_id, t.account_id, t.transaction_date, t.id, t.contract_service_id
  from billing join rated_transaction as t
    on t.tenant_id = :tenantId and t.account_id = billing.account_id
    and t.transaction_date > billing.billed_until and t.transaction_date <= :until::date
  join cutoff on cutoff.line_id = t.contract_service_id and t.transaction_date > cutoff.until
  on conflict do nothing`;

/**
 * Advances the billed-until day of the accounts: everything up to it is billed, except queued
 * usage.
 */
const moveBilledSql = `
  with ${billingSql}
  insert into billed_usage as known (tenant_id, account_id, billed_until)
  select :tenantId, account_id, :until::date from billing
  where billed_until < :until::date order by account_id
  on conflict (tenant_id, account_id) do update set billed_until = excluded.billed_until`;

/**
 * Stores the transactions of each item, up to a hundred in a row: 250 of them are three rows with
 * `first_position` 0, 100 and 200.
 */
const storedSql = `
  stored as (
    insert into invoice_usage
      (tenant_id, invoice_id, invoice_item_id, first_position, rate_card_row_id, transaction_ids)
    select :tenantId, invoice_id, item_id, before + 100 * piece,
      row_id, ids[100 * piece + 1 : 100 * piece + 100]
    from (
      select *, sum(cardinality(ids)) over (partition by item_id
        order by row_id, contract_service_id, contract_id rows unbounded preceding
      ) - cardinality(ids) as before
      from of_item
    ) as counted cross join generate_series(0, (cardinality(ids) - 1) / 100) as piece
  )`;

/**
 * Claims the usage of accounts that the caller holds: it is billed as the items that are returned;
 * undefined where they are too many. `closeUsage` runs before, so that usage rated meanwhile is
 * queued for the next run.
 */
export async function claimUsage(
  trx: Knex.Transaction,
  tenantId: string,
  selection: UsageSelection,
): Promise<UsageGroup[] | undefined> {
  const bindings = selectionBindings(tenantId, selection);
  if (selection.cutoffs.length > 0) await sqlRows(trx, queueUndueSql, bindings);
  const groups = await sumUsage(trx, tenantId, selection, {
    queued: `delete from unbilled_usage as late where ${isDueSql}
      returning late.account_id, late.transaction_date, late.transaction_id`,
    more: `, ${storedSql}`,
  });
  await sqlRows(trx, moveBilledSql, bindings);
  return groups;
}

/**
 * Marks usage of these accounts up to that day as late if it is added after the commit; usage added
 * before is visible to the billing run. Waits for rating transactions that are under way, so it
 * runs in a short transaction of its own.
 */
export async function closeUsage(
  trx: Knex.Transaction,
  tenantId: string,
  accountIds: readonly string[],
  until: string,
): Promise<void> {
  await sqlRows(trx, 'select close_usage(?, ?::uuid[], ?::date)', [
    tenantId,
    [...accountIds],
    until,
  ]);
}

/** Queues what was claimed for invoices that are not made after all. */
export async function postponeUsage(
  trx: Knex.Transaction,
  tenantId: string,
  invoiceIds: readonly string[],
): Promise<void> {
  if (invoiceIds.length === 0) return;
  for (const invoiceId of invoiceIds) await releaseUsage(trx, tenantId, invoiceId);
  await sqlRows(
    trx,
    'delete from invoice_usage where tenant_id = ? and invoice_id = any(?::uuid[])',
    [tenantId, [...invoiceIds]],
  );
}

/**
 * Queues the transactions of a voided invoice; the invoice keeps its own list of them. 409: some are in
 * the archive alone, so that the next run could not bill them.
 */
export async function releaseUsage(
  trx: Knex.Transaction,
  tenantId: string,
  invoiceId: string,
): Promise<void> {
  await trx.raw(
    `insert into unbilled_usage
       (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
     select distinct t.tenant_id, t.account_id, t.transaction_date, t.id, t.contract_service_id
     from invoice_usage as usage cross join unnest(usage.transaction_ids) as transaction_id
     join rated_transaction as t on t.tenant_id = usage.tenant_id and t.id = transaction_id
     where usage.tenant_id = ? and usage.invoice_id = ?`,
    [tenantId, invoiceId],
  );
  // Behind the statement before, which has the lock that a drop of a month waits for.
  refuseArchived(await listDroppedMonthsOf(trx, tenantId, invoiceId));
}
