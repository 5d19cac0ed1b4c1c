export const config = { transaction: false };

const tables = ['account', 'contract', 'service'];

/** Records by how their approval stands, the newest first. */
export async function up(knex) {
  for (const table of tables) {
    // An interrupted one is left invalid, and the migration runs again.
    await knex.raw(`drop index concurrently if exists ${table}_approval`);
    await knex.raw(`create index concurrently ${table}_approval
      on ${table} (tenant_id, approval_status, created_at, id) where deleted_at is null`);
  }
}

export async function down(knex) {
  for (const table of tables) {
    await knex.raw(`drop index concurrently if exists ${table}_approval`);
  }
}
