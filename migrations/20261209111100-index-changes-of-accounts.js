export const config = { transaction: false };

/** The timeline of an account, newest first (docs/decisions/0382). */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists audit_account');
  await knex.raw(`create index concurrently audit_account
    on audit (tenant_id, account_of_change(entity, entity_id, before, after), at, id)
    where account_of_change(entity, entity_id, before, after) is not null`);
  await knex.raw('drop index concurrently if exists execution_account');
  await knex.raw(`create index concurrently execution_account
    on execution (tenant_id, account_of_execution(workflow, input), started_at, id)
    where account_of_execution(workflow, input) is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists execution_account');
  await knex.raw('drop index concurrently if exists audit_account');
}
