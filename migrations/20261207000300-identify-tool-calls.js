/**
 * Rows are copied to another cell by their tenant, which must be part of what identifies them: calls of
 * tools have an id alone as their key.
 */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists tool_call_identity');
  await knex.raw(
    'create unique index concurrently tool_call_identity on tool_call (tenant_id, id)',
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists tool_call_identity');
}
