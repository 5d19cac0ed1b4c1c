/**
 * What the usage of a counter comes to for an account that has wallets, and what grants have paid of it
 * (docs/decisions/0502). Counters begin with the next usage: what was paid before is not in them.
 */
export async function up(knex) {
  await knex.raw(`
    create table counter_charge (
      tenant_id text collate "C" not null references tenant (id),
      counter_id uuid not null,
      account_id uuid not null,
      currency text not null,
      -- The sum of the charges that stand and became known since.
      charged numeric not null,
      since timestamptz not null,
      constraint counter_charge_pkey primary key (tenant_id, counter_id, account_id, currency)
    ) with (fillfactor = 50);
    select protect_tenant_rows('counter_charge');

    create table counter_draw (
      tenant_id text collate "C" not null references tenant (id),
      counter_id uuid not null,
      account_id uuid not null,
      currency text not null,
      grant_id uuid not null,
      wallet_id uuid not null,
      drawn numeric not null,
      constraint counter_draw_pkey
        primary key (tenant_id, counter_id, account_id, currency, grant_id)
    ) with (fillfactor = 50);
    select protect_tenant_rows('counter_draw');
  `);
}

export async function down(knex) {
  await knex.raw('drop table counter_draw, counter_charge');
}
