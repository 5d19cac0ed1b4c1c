/** Groups are searched instead (docs/decisions/0323). */
export const config = { transaction: false };

export async function up(knex) {
  await knex.raw('drop index concurrently if exists rated_transaction_search');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists rated_transaction_search');
  const { rows } = await knex.raw(`select from pg_opclass where opcname = 'gin_trgm_ops'`);
  if (rows.length === 0) return;
  await knex.raw(`create index concurrently rated_transaction_search on rated_transaction
    using gin (external_tran_id gin_trgm_ops, tenant_id)`);
}
