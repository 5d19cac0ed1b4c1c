/** Lists of invoices by status, the latest first: few of them are open or void (docs/decisions/0468). */
export const config = { transaction: false };

export async function up(knex) {
  // Interrupted ones are left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists invoice_with_balance');
  await knex.raw(`create index concurrently invoice_with_balance
    on invoice (tenant_id, invoice_date desc, id desc) where balance <> 0`);
  await knex.raw('drop index concurrently if exists invoice_void');
  await knex.raw(`create index concurrently invoice_void
    on invoice (tenant_id, invoice_date desc, id desc) where invoice_status = 'Void'`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists invoice_void');
  await knex.raw('drop index concurrently if exists invoice_with_balance');
}
