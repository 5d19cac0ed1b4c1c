import type { Knex } from 'knex';
import { compareReduction } from '../reducing-items.js';

/** The charge type of the items of an invoice that say what discounts take off. */
export const discountType = 'Discount';

const discountsSql = `coalesce((
       select sum(t.discount) from (
         select distinct unnest(transaction_ids) as id from invoice_usage
         where tenant_id = :tenantId and invoice_id = :invoiceId
       ) as own join rated_transaction as t on t.tenant_id = :tenantId and t.id = own.id
     ), 0) + coalesce((
       select sum(discount) from recurring_charge
       where tenant_id = :tenantId and invoice_id = :invoiceId
     ), 0) + coalesce((
       select sum(discounted) from billed_difference
       where tenant_id = :tenantId and invoice_id = :invoiceId and is_credited
     ), 0)`;

/** Whether these items of an invoice come to the discounts of its charges. */
export const compareDiscounts = (
  db: Knex,
  tenantId: string,
  invoiceId: string,
  items: readonly { readonly chargeType: string }[],
): Promise<boolean> =>
  compareReduction(db, { tenantId, invoiceId, chargeType: discountType }, items, discountsSql);
