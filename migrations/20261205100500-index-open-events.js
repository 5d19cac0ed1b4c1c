/** Events that are in no list of `usage_list`, by account and by service. */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_event_account_open');
  await knex.raw(`create index concurrently usage_event_account_open
    on usage_event (tenant_id, account_id, id) where account_id is not null and status <> 'rated'`);
  await knex.raw('drop index concurrently if exists usage_event_service_open');
  await knex.raw(`create index concurrently usage_event_service_open
    on usage_event (tenant_id, service_id, id) where service_id is not null and status <> 'rated'`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_account_open');
  await knex.raw('drop index concurrently if exists usage_event_service_open');
}
