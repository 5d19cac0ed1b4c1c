/** Money that is promised before it is charged (docs/decisions/0392). */
export async function up(knex) {
  await knex.raw(`
    create table wallet_hold (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      account_id uuid not null,
      currency text not null,
      amount numeric not null,
      -- The caller's, and what names the rest of what it asked for.
      key text not null,
      content_id uuid not null,
      -- Of which grants it was promised how much: [{grantId, walletId, amount}].
      parts jsonb not null,
      status text not null default 'open',
      expires_at timestamptz not null,
      -- When it is released by itself; null when it has ended.
      release_at timestamptz,
      -- The event of its commit, and what names the content of that.
      external_id text,
      message_id uuid,
      created_at timestamptz not null,
      ended_at timestamptz,
      constraint wallet_hold_pkey primary key (tenant_id, id),
      constraint wallet_hold_account foreign key (tenant_id, account_id)
        references account (tenant_id, id),
      constraint wallet_hold_key unique (tenant_id, key),
      constraint wallet_hold_status check (
        status in ('open', 'committing', 'committed', 'released', 'expired')
      ),
      constraint wallet_hold_amount check (amount > 0)
    );
    -- What an account has promised: to be released when its time is over, or drawn by its event.
    create index wallet_hold_unended on wallet_hold (tenant_id, account_id, release_at)
      where release_at is not null;
    create index wallet_hold_due on wallet_hold (release_at) where release_at is not null;
    -- Workers look for what falls due in all tenants.
    select protect_platform_rows('wallet_hold'), audit_table('wallet_hold');
  `);
}

export async function down(knex) {
  await knex.raw('drop table wallet_hold');
}
