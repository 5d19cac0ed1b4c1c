/** How many executions of tenants' workflows run: there is a most (docs/decisions/0403). */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists execution_defined');
  await knex.raw(`create index concurrently execution_defined on execution (tenant_id)
    where status = 'running' and workflow like 'runDefinition/%'`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists execution_defined');
}
