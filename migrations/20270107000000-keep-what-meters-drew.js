/**
 * What the usage of a meter comes to for an account that has wallets, and what grants have paid of it
 * (docs/decisions/0502). It begins with the next usage: what was paid before is not in it.
 */
export async function up(knex) {
  await knex.raw(`
    create table meter_charge (
      tenant_id text collate "C" not null references tenant (id),
      meter_id uuid not null,
      account_id uuid not null,
      currency text not null,
      -- The sum of the charges that stand and became known since.
      charged numeric not null,
      since timestamptz not null,
      constraint meter_charge_pkey primary key (tenant_id, meter_id, account_id, currency)
    ) with (fillfactor = 50);
    select protect_tenant_rows('meter_charge');

    create table meter_draw (
      tenant_id text collate "C" not null references tenant (id),
      meter_id uuid not null,
      account_id uuid not null,
      currency text not null,
      grant_id uuid not null,
      wallet_id uuid not null,
      drawn numeric not null,
      constraint meter_draw_pkey
        primary key (tenant_id, meter_id, account_id, currency, grant_id)
    ) with (fillfactor = 50);
    select protect_tenant_rows('meter_draw');

    -- What a maximum gave back is drawn again by the next run when usage falls: in between a grant may be
    -- more than it was given.
    alter table wallet_grant drop constraint wallet_grant_rest;
    alter table wallet_grant add constraint wallet_grant_rest check (rest >= 0) not valid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table wallet_grant drop constraint wallet_grant_rest;
    alter table wallet_grant
      add constraint wallet_grant_rest check (rest >= 0 and rest <= amount) not valid;
    drop table meter_draw, meter_charge;
  `);
}
