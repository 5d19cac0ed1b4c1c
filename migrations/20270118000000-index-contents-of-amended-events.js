export const config = { transaction: false };

/** Events that were amended, among however many that were canceled or dismissed. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_event_change_message');
  await knex.raw(`create index concurrently usage_event_change_message
    on usage_event_change (tenant_id, event_id) where message is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_change_message');
}
