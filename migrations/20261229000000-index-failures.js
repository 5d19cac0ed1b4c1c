/** What failed lately, of a tenant: few rows of two large tables (docs/decisions/0466). */
export const config = { transaction: false };

export async function up(knex) {
  // Interrupted ones are left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists execution_failed');
  await knex.raw(`create index concurrently execution_failed on execution (tenant_id, completed_at)
    where status in ('failed', 'timed_out', 'terminated')`);
  await knex.raw('drop index concurrently if exists webhook_delivery_failed');
  await knex.raw(`create index concurrently webhook_delivery_failed
    on webhook_delivery (tenant_id, ended_at) where status = 'failed'`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists webhook_delivery_failed');
  await knex.raw('drop index concurrently if exists execution_failed');
}
