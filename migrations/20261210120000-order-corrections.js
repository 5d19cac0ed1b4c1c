export const config = { transaction: false };

/** Corrections in the order in which they became known, for their export (docs/decisions/0317). */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_correction_time');
  await knex.raw(`create index concurrently usage_correction_time
    on usage_correction (tenant_id, created_at, id)`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_correction_time');
}
