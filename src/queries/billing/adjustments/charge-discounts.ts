import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** The charge type of the items of an invoice that say what discounts take off. */
export const discountType = 'Discount';

/** Whether these items of an invoice come to the discounts of its charges. */
export async function compareDiscounts(
  db: Knex,
  tenantId: string,
  invoiceId: string,
  items: readonly { readonly chargeType: string }[],
): Promise<boolean> {
  if (!items.some(({ chargeType }) => chargeType === discountType)) return true;
  const [row] = await sqlRows<{ shown: string | null; discount: string }>(
    db,
    `select (
       select sum(exact_amount) from invoice_item
       where tenant_id = :tenantId and invoice_id = :invoiceId and charge_type = :discountType
     ) as shown, coalesce((
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
     ), 0) as discount`,
    { tenantId, invoiceId, discountType },
  );
  return new Decimal(row?.shown ?? 0).abs().eq(new Decimal(row?.discount ?? 0).abs());
}
