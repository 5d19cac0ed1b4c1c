import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { pricedRowsSql } from '../../models/usage/priced-row.js';
import type * as schema from '../../schemas/usage/usage-event.js';

/** SQL for the parts of items: a whole transaction, or the dimension of one row. */
export const invoicePartsSql = `
  from invoice_usage as usage
  cross join unnest(usage.transaction_ids) with ordinality as known (id, number)
  join rated_transaction as t on t.tenant_id = usage.tenant_id and t.id = known.id
  ${pricedRowsSql('left join', 'own.rate_card_row_id = usage.rate_card_row_id')}
  where usage.tenant_id = ? and usage.invoice_id = ?`;

type ChargeDto = Static<typeof schema.ExplainedTransaction>;
type BillingInvoice = NonNullable<ChargeDto['invoice']>;
type Billed = Pick<ChargeDto, 'id' | 'accountId' | 'serviceId' | 'transactionDate' | 'billed'>;

/** Charges that are looked for at once, of an event that many accounts share. */
const chargesMax = 100;

/**
 * Nothing leads from a charge to its invoice (docs/decisions/0110): the account's invoices are looked
 * through, from the first that may have it on, one after the other until one does.
 */
const invoicesSql = `
  select charge.id as "chargeId", found.id, found.invoice_no as "invoiceNo", found.items
  from unnest(:ids::uuid[], :accountIds::uuid[], :serviceIds::uuid[], :days::date[])
    as charge (id, account_id, service_id, day)
  cross join lateral (
    select invoice.id, invoice.invoice_no, own.items
    from (
      select id, invoice_no from invoice
      where tenant_id = :tenantId and account_id = charge.account_id
        and invoice_status <> 'Void' and period_end >= charge.day
      order by period_end, id limit 100
    ) as invoice cross join lateral (
      select json_agg(
        json_build_object('id', item.id, 'description', item.description) order by item.position
      ) as items
      from invoice_item as item
      where item.tenant_id = :tenantId and item.invoice_id = invoice.id
        and item.service_id = charge.service_id and exists (
          select from invoice_usage as usage
          where usage.tenant_id = :tenantId and usage.invoice_id = invoice.id
            and usage.invoice_item_id = item.id and charge.id = any(usage.transaction_ids)
        )
    ) as own
    where own.items is not null limit 1
  ) as found`;

/** The invoices that bill charges, by the charge; void ones bill nothing. */
export async function findInvoicesOf(
  db: Knex,
  tenantId: string,
  charges: readonly Billed[],
): Promise<ReadonlyMap<string, BillingInvoice>> {
  const billed = charges.filter((charge) => charge.billed).slice(0, chargesMax);
  if (billed.length === 0) return new Map();
  const rows = await sqlRows<BillingInvoice & { chargeId: string }>(db, invoicesSql, {
    tenantId,
    ids: arrayLiteral(billed.map(({ id }) => id ?? '')),
    accountIds: arrayLiteral(billed.map(({ accountId }) => accountId)),
    serviceIds: arrayLiteral(billed.map(({ serviceId }) => serviceId)),
    days: arrayLiteral(billed.map(({ transactionDate }) => transactionDate)),
  });
  return new Map(rows.map(({ chargeId, ...invoice }) => [chargeId, invoice]));
}
