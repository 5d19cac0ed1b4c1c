/** The versions of a card in the order in which they come into force (docs/decisions/0370). */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists rate_card_service_day');
  await knex.raw(`create index concurrently rate_card_service_day
    on rate_card (tenant_id, service_id, currency, from_date, version_no)
    where deleted_at is null and service_id is not null`);
  await knex.raw('drop index concurrently if exists rate_card_line_day');
  await knex.raw(`create index concurrently rate_card_line_day
    on rate_card (tenant_id, contract_service_id, currency, from_date, version_no)
    where deleted_at is null and contract_service_id is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists rate_card_service_day');
  await knex.raw('drop index concurrently if exists rate_card_line_day');
}
