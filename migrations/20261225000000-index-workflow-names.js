export const config = { transaction: false };

/** Executions of a workflow that was deleted are found by its name, which many may have had. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists workflow_definition_names');
  await knex.raw(
    `create index concurrently workflow_definition_names
      on workflow_definition (tenant_id, name, deleted_at desc)`,
  );
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists workflow_definition_names');
}
