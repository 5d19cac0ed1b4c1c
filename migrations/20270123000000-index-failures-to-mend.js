export const config = { transaction: false };

/**
 * What failed and is to be mended. A preview that was refused is not: to look for that in its input, which
 * may be a mebibyte, was to read all of it each time somebody asked (docs/decisions/0466).
 */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists execution_to_mend');
  await knex.raw(`create index concurrently execution_to_mend on execution (tenant_id, completed_at)
    where status in ('failed', 'timed_out', 'terminated') and (
      workflow not in ('amendUsageEvent', 'cancelUsageEvent', 'rerateUsage', 'runBilling')
      or coalesce(error ->> 'kind', 'internal') = 'internal'
      or input ->> 'dryRun' is distinct from 'true')`);
  await knex.raw('drop index concurrently if exists execution_failed');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists execution_failed');
  await knex.raw(`create index concurrently execution_failed on execution (tenant_id, completed_at)
    where status in ('failed', 'timed_out', 'terminated')`);
  await knex.raw('drop index concurrently if exists execution_to_mend');
}
