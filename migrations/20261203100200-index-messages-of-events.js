/** What workers move from the events to `usage_message`: nothing that is written from now on. */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_event_message');
  await knex.raw(`create index concurrently usage_event_message on usage_event (tenant_id, id)
    where message is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_message');
}
