import type { Knex } from 'knex';
import { Decimal } from '../../kernel/numbers/money.js';
import { sqlRows } from '../../models/db/sql-rows.js';

interface Reduction {
  readonly tenantId: string;
  readonly invoiceId: string;
  /** The charge type of the items that take something off the others. */
  readonly chargeType: string;
}

/**
 * Whether the items of an invoice that take something off the others come to what its charges say: a sum
 * in SQL with the bindings `tenantId` and `invoiceId`.
 */
export async function compareReduction(
  db: Knex,
  reduction: Reduction,
  items: readonly { readonly chargeType: string }[],
  sumOfChargesSql: string,
): Promise<boolean> {
  if (!items.some(({ chargeType }) => chargeType === reduction.chargeType)) return true;
  const [row] = await sqlRows<{ shown: string | null; charged: string | null }>(
    db,
    `select (
       select sum(exact_amount) from invoice_item
       where tenant_id = :tenantId and invoice_id = :invoiceId and charge_type = :chargeType
     ) as shown, ${sumOfChargesSql} as charged`,
    { ...reduction },
  );
  return new Decimal(row?.shown ?? 0).abs().eq(new Decimal(row?.charged ?? 0).abs());
}
