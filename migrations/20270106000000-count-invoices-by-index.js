/**
 * Invoices that are paid or overdue are counted by an index alone (docs/decisions/0468): they are most of
 * what there is, or decided by the day on which they are due.
 */
export const config = { transaction: false };

export async function up(knex) {
  // Interrupted ones are left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists invoice_paid');
  await knex.raw(`create index concurrently invoice_paid
    on invoice (tenant_id, invoice_date desc, id desc)
    where payment_status = 'Paid' and credited_invoice_id is null`);
  await knex.raw('drop index concurrently if exists invoice_unsettled');
  await knex.raw(`create index concurrently invoice_unsettled
    on invoice (tenant_id, invoice_date desc, id desc) include (balance, due_date) where balance <> 0`);
  // What it was for the one above does.
  await knex.raw('drop index concurrently if exists invoice_with_balance');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists invoice_with_balance');
  await knex.raw(`create index concurrently invoice_with_balance
    on invoice (tenant_id, invoice_date desc, id desc) where balance <> 0`);
  await knex.raw('drop index concurrently if exists invoice_unsettled');
  await knex.raw('drop index concurrently if exists invoice_paid');
}
