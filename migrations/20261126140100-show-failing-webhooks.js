/**
 * The dispatcher, which takes deliveries of all tenants, gives a webhook that nothing reaches a smaller
 * share: it has to see which ones these are (docs/decisions/0193).
 */
export async function up(knex) {
  await knex.raw(`
    drop policy tenant_rows on webhook_failure;
    select protect_platform_rows('webhook_failure');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop policy platform_rows on webhook_failure;
    select protect_tenant_rows('webhook_failure');
  `);
}
