/** Payments (document 1, sections 2.2 and 4.4). */
export async function up(knex) {
  await knex.raw(`
    create table payment (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      account_id uuid not null,
      currency text not null,
      amount numeric not null,
      -- What of the amount is not applied to invoices yet.
      balance numeric not null,
      payment_reference text not null,
      payment_method text not null,
      payment_type text not null,
      payment_date date not null,
      payment_status text not null default 'Completed',
      balance_status text not null default 'Unapplied',
      gl_payment_date date,
      payment_gl_status text not null default 'Pending',
      approval_status text not null default 'Approved',
      is_manual_payment boolean not null default false,
      comments text,
      participant_name text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint payment_pkey primary key (tenant_id, id),
      constraint payment_account foreign key (tenant_id, account_id)
        references account (tenant_id, id),
      constraint payment_balance check (balance >= 0 and balance <= amount)
    );
    create unique index payment_reference on payment (tenant_id, payment_reference)
      where deleted_at is null;
    create index payment_account on payment (tenant_id, account_id) where deleted_at is null;
    create index payment_date on payment (tenant_id, payment_date desc, id desc)
      where deleted_at is null;
    select protect_tenant_rows('payment'), audit_table('payment');
  `);
}

export async function down(knex) {
  await knex.raw('drop table payment');
}
