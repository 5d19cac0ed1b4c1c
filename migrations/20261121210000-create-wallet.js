/** Wallets (document 1, sections 2.2 and 4.5). */
export async function up(knex) {
  await knex.raw(`
    create table wallet (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      title text not null,
      account_id uuid not null,
      currency text,
      unit text,
      balance numeric not null default 0,
      available_balance numeric not null default 0,
      reserved_balance numeric not null default 0,
      frozen_amount numeric not null default 0,
      is_active boolean not null default true,
      approval_status text not null default 'Approved',
      customer_id text,
      enable_disable_top_up boolean not null default false,
      threshold_top_up_amount numeric not null default 0,
      auto_top_up_amount numeric not null default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint wallet_pkey primary key (tenant_id, id),
      constraint wallet_account foreign key (tenant_id, account_id)
        references account (tenant_id, id)
    );
    -- Also the order of the list.
    create unique index wallet_title on wallet (tenant_id, title) where deleted_at is null;
    create index wallet_account on wallet (tenant_id, account_id) where deleted_at is null;
    select protect_tenant_rows('wallet'), audit_table('wallet');
  `);
}

export async function down(knex) {
  await knex.raw('drop table wallet');
}
