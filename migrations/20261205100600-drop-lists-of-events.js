/**
 * `usage_list` has the events of an account and of a service instead. Where there are events from
 * before, workers are still listing them, and the indexes stay until a later release.
 */
export const config = { transaction: false };

export async function up(knex) {
  const isListing = await knex.transaction(async (trx) => {
    await trx.raw(`select set_config('app.tenant_id', '*', true)`);
    const { rows } = await trx.raw(`select from fact_move where kind = 'lists' limit 1`);
    return rows.length > 0;
  });
  if (isListing) return;
  await knex.raw('drop index concurrently if exists usage_event_account');
  await knex.raw('drop index concurrently if exists usage_event_service');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_account');
  await knex.raw(`create index concurrently usage_event_account
    on usage_event (tenant_id, account_id, id) where account_id is not null`);
  await knex.raw('drop index concurrently if exists usage_event_service');
  await knex.raw(`create index concurrently usage_event_service
    on usage_event (tenant_id, service_id, id) where service_id is not null`);
}
