/** Events at another place than their id says; `usage_range` leads to all others. */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_event_moved');
  await knex.raw(`create index concurrently usage_event_moved
    on usage_event (tenant_id, partition, "offset")
    where usage_is_moved(id, partition, "offset")`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_moved');
}
