/** Accounts and their addresses (document 1, sections 2.2 and 4.3). */
export async function up(knex) {
  await knex.raw(`
    create table account (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      number text,
      external_id text,
      billing_day integer,
      is_master boolean not null default false,
      net_term text,
      default_currency text,
      status text not null default 'Active',
      approval_status text not null default 'Draft',
      gst text,
      pan text,
      cin text,
      contact_info_list jsonb not null default '[]',
      account_payment_profile_list jsonb not null default '[]',
      -- Raised with every change of the account, its contracts or their lines: see rating.
      rating_version bigint not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint account_pkey primary key (tenant_id, id)
    );
    create unique index account_external_id on account (tenant_id, external_id)
      where deleted_at is null;
    create unique index account_number on account (tenant_id, number) where deleted_at is null;
    create index account_name on account (tenant_id, name, id) where deleted_at is null;
    select protect_tenant_rows('account'), audit_table('account');

    create table address (
      tenant_id text collate "C" not null,
      id uuid not null,
      account_id uuid not null,
      position integer not null,
      line1 text not null,
      line2 text,
      city text,
      state text,
      zip_code text,
      country text,
      tax_id text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint address_pkey primary key (tenant_id, id),
      constraint address_account foreign key (tenant_id, account_id)
        references account (tenant_id, id)
    );
    create index address_account on address (tenant_id, account_id, position)
      where deleted_at is null;
    select protect_tenant_rows('address'), audit_table('address');
  `);
}

export async function down(knex) {
  await knex.raw('drop table address, account');
}
