import type { Knex } from 'knex';
import { sqlRows } from '../../models/db/sql-rows.js';

/** Holds the payments of an invoice until the transaction ends; there may be tens of thousands of them. */
export async function lockPaymentsOf(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<void> {
  await sqlRows(
    trx,
    `select count(*) from (
       select from payment where tenant_id = :tenantId and id in (
         select payment_id from payment_application
         where tenant_id = :tenantId and invoice_id = :id)
       order by id for update
     ) as held`,
    { tenantId, id },
  );
}
