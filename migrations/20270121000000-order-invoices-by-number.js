/**
 * Lists of invoices are in the order of their numbers within a day, and filtered by their period, by an
 * index alone (docs/decisions/0534). `invoice_date` and `invoice_account` stay for the version before.
 */
export const config = { transaction: false };

const order = 'invoice_date desc, length(invoice_no) desc, invoice_no desc';

export async function up(knex) {
  // Interrupted ones are left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists invoice_by_number');
  await knex.raw(`create index concurrently invoice_by_number
    on invoice (tenant_id, ${order}) include (id, period_start, period_end)`);
  await knex.raw('drop index concurrently if exists invoice_of_account');
  await knex.raw(`create index concurrently invoice_of_account
    on invoice (tenant_id, account_id, ${order}) include (id)`);
  await knex.raw('drop index concurrently if exists invoice_paid_by_number');
  await knex.raw(`create index concurrently invoice_paid_by_number
    on invoice (tenant_id, ${order}) include (id, period_start, period_end)
    where payment_status = 'Paid' and credited_invoice_id is null`);
  await knex.raw('drop index concurrently if exists invoice_unsettled_by_number');
  await knex.raw(`create index concurrently invoice_unsettled_by_number
    on invoice (tenant_id, ${order}) include (id, period_start, period_end, balance, due_date)
    where balance <> 0`);
  await knex.raw('drop index concurrently if exists invoice_void_by_number');
  await knex.raw(`create index concurrently invoice_void_by_number
    on invoice (tenant_id, ${order}) include (id) where invoice_status = 'Void'`);
  // No release has had these.
  await knex.raw('drop index concurrently if exists invoice_paid');
  await knex.raw('drop index concurrently if exists invoice_unsettled');
  await knex.raw('drop index concurrently if exists invoice_void');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists invoice_void');
  await knex.raw(`create index concurrently invoice_void
    on invoice (tenant_id, invoice_date desc, id desc) where invoice_status = 'Void'`);
  await knex.raw('drop index concurrently if exists invoice_unsettled');
  await knex.raw(`create index concurrently invoice_unsettled
    on invoice (tenant_id, invoice_date desc, id desc) include (balance, due_date) where balance <> 0`);
  await knex.raw('drop index concurrently if exists invoice_paid');
  await knex.raw(`create index concurrently invoice_paid
    on invoice (tenant_id, invoice_date desc, id desc)
    where payment_status = 'Paid' and credited_invoice_id is null`);
  await knex.raw('drop index concurrently if exists invoice_void_by_number');
  await knex.raw('drop index concurrently if exists invoice_unsettled_by_number');
  await knex.raw('drop index concurrently if exists invoice_paid_by_number');
  await knex.raw('drop index concurrently if exists invoice_of_account');
  await knex.raw('drop index concurrently if exists invoice_by_number');
}
