/**
 * `usage_identity` and `usage_range` find events instead. Where there are events from before, workers
 * are still filling these, and the indexes stay until a later release.
 */
export const config = { transaction: false };

export async function up(knex) {
  const isFilling = await knex.transaction(async (trx) => {
    await trx.raw(`select set_config('app.tenant_id', '*', true)`);
    const { rows } = await trx.raw(`select from fact_move where kind = 'external ids' limit 1`);
    return rows.length > 0;
  });
  if (isFilling) return;
  await knex.raw('drop index concurrently if exists usage_event_original');
  await knex.raw('drop index concurrently if exists usage_event_offset');
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_event_original');
  await knex.raw(`create unique index concurrently usage_event_original
    on usage_event (tenant_id, external_transaction_id) where original_id is null`);
  await knex.raw('drop index concurrently if exists usage_event_offset');
  await knex.raw(`create unique index concurrently usage_event_offset
    on usage_event (tenant_id, partition, "offset")`);
}
