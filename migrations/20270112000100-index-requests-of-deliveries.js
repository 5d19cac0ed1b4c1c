export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists webhook_delivery_request');
  await knex.raw(`create index concurrently webhook_delivery_request
    on webhook_delivery (tenant_id, request_id, seq) where request_id is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists webhook_delivery_request');
}
