/** What voids set free of payments: it pays what is open then and what is billed next (0240). */
export async function up(knex) {
  await knex.raw(`
    -- At most the balance.
    alter table payment add column freed numeric not null default 0;
    create index payment_freed on payment (tenant_id, account_id) where freed > 0;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop index payment_freed;
    alter table payment drop column freed;
  `);
}
