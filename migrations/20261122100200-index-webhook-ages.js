/** Deliveries and events are deleted when they are old: see docs/decisions/0092. */
export async function up(knex) {
  await knex.raw(`
    create index webhook_delivery_created_at on webhook_delivery (created_at);
    create index webhook_event_created_at on webhook_event (created_at);
  `);
}

export async function down(knex) {
  await knex.raw('drop index webhook_event_created_at, webhook_delivery_created_at');
}
