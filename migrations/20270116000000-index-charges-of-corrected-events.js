export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_correction_charge_event');
  await knex.raw(`create index concurrently usage_correction_charge_event
    on usage_correction_charge (tenant_id, correction_id, event_id, position)`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_correction_charge_event');
}
