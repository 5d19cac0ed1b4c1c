/**
 * What a delivery followed: the request that changed the record, or the execution, whose id requests of
 * workflows end with. Deliveries of before have none.
 */
export async function up(knex) {
  await knex.raw(`
    alter table webhook_delivery add column request_id uuid;
    alter table webhook_delivery alter column request_id set default
      substring(current_setting('app.request_id', true)
        from '([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid;
  `);
}

export async function down(knex) {
  await knex.raw('alter table webhook_delivery drop column request_id');
}
