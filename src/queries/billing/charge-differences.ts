import type { Knex } from 'knex';
import { Decimal } from '../../kernel/numbers/money.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The charge type of the items of what credit notes had given back before a correction did. */
export const creditedType = 'Credited';

/** Whether these items of an invoice come to what was found to be credited before. */
export async function compareCredited(
  db: Knex,
  tenantId: string,
  invoiceId: string,
  items: readonly { readonly chargeType: string }[],
): Promise<boolean> {
  if (!items.some(({ chargeType }) => chargeType === creditedType)) return true;
  const [row] = await sqlRows<{ shown: string | null; credited: string | null }>(
    db,
    `select (
       select sum(exact_amount) from invoice_item
       where tenant_id = :tenantId and invoice_id = :invoiceId and charge_type = :creditedType
     ) as shown, (
       select sum(amount) from billed_difference
       where tenant_id = :tenantId and invoice_id = :invoiceId and is_credited
     ) as credited`,
    { tenantId, invoiceId, creditedType },
  );
  return new Decimal(row?.shown ?? 0).abs().eq(new Decimal(row?.credited ?? 0).abs());
}
