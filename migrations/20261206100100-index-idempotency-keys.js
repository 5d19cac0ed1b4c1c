/** Retention finds keys by their age, and the keys that still need an execution. */
export const config = { transaction: false };

export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists idempotency_key_age');
  await knex.raw(
    'create index concurrently idempotency_key_age on idempotency_key (tenant_id, created_at)',
  );
  await knex.raw('drop index concurrently if exists idempotency_key_workflow');
  await knex.raw(`create index concurrently idempotency_key_workflow
    on idempotency_key (tenant_id, workflow_id) where workflow_id is not null`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists idempotency_key_workflow');
  await knex.raw('drop index concurrently if exists idempotency_key_age');
}
