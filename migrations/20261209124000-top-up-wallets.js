/** Wallets that are topped up when their balance falls below a threshold (docs/decisions/0394). */
export async function up(knex) {
  await knex.raw(`
    -- The wallet that a payment tops up.
    alter table payment add column top_up_wallet_id uuid;
    -- Whether it was topped up, and its balance has not risen above the threshold since.
    alter table wallet_balance add column is_topped_up boolean not null default false;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table wallet_balance drop column is_topped_up;
    alter table payment drop column top_up_wallet_id;
  `);
}
