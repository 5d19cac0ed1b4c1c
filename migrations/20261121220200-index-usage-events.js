/**
 * The filters of the list of usage events (docs/decisions/0078). Each index costs the writing of an
 * event; what they cost together, and what paid for it, is written there.
 */
export async function up(knex) {
  await knex.raw(`
    create index usage_event_account on usage_event (tenant_id, account_id, id)
      where account_id is not null;
    create index usage_event_service on usage_event (tenant_id, service_id, id)
      where service_id is not null;
    -- The list and the retry compare times by this expression. Not coalesce: to the planner that is
    -- not leakproof, so that row-level security would keep the index from being used.
    create index usage_event_time on usage_event
      (tenant_id, (case when event_at is null then received_at else event_at end), id);
    -- Together with usage_event_original this finds all events of an external id.
    create index usage_event_repeat on usage_event (tenant_id, external_transaction_id, id)
      where original_id is not null;
  `);
}

export async function down(knex) {
  await knex.raw(
    'drop index usage_event_account, usage_event_service, usage_event_time, usage_event_repeat',
  );
}
