/**
 * What wallets hold: grants, their ledger, and what is held of them (docs/decisions/0390, 0392).
 *
 * The columns of `wallet` stay for processes of the version before, and are read no more. What is in
 * wallets becomes a purchased grant `opening`; what is overdrawn owes nothing to a ledger.
 */
export async function up(knex) {
  await knex.raw(`
    -- Where a wallet stands: one row, which everything that moves the balance locks. It is made with
    -- the first grant, so that a tenant without grants has none.
    create table wallet_balance (
      tenant_id text collate "C" not null references tenant (id),
      wallet_id uuid not null,
      -- Of the wallet: whose charges it may pay, and whether it pays at all.
      account_id uuid not null,
      currency text,
      is_active boolean not null default true,
      balance numeric not null default 0,
      held numeric not null default 0,
      -- The number of the last entry.
      last_entry bigint not null default 0,
      -- When the next grant takes effect or expires; null when none does.
      due_at timestamptz,
      constraint wallet_balance_pkey primary key (tenant_id, wallet_id),
      constraint wallet_balance_wallet foreign key (tenant_id, wallet_id)
        references wallet (tenant_id, id),
      constraint wallet_balance_not_negative check (balance >= 0),
      constraint wallet_balance_held check (held >= 0 and held <= balance)
    ) with (fillfactor = 50);
    create index wallet_balance_account on wallet_balance (tenant_id, account_id);
    create index wallet_balance_due on wallet_balance (due_at) where due_at is not null;
    -- Workers look for what falls due in all tenants.
    select protect_platform_rows('wallet_balance');

    create table wallet_grant (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      wallet_id uuid not null,
      external_id text not null,
      kind text not null,
      amount numeric not null,
      priority integer not null default 0,
      effective_from timestamptz not null,
      expires_at timestamptz,
      -- Null: it pays any service.
      service_ids uuid[],
      -- The payment of a top-up.
      payment_id uuid,
      -- Names what was asked for: the same again is the same grant.
      content_id uuid,
      -- What is left of it, and what of that is promised to holds.
      rest numeric not null,
      held numeric not null default 0,
      entered_at timestamptz,
      expired_at timestamptz,
      revoked_at timestamptz,
      -- Whether anything may still come of it: money or its beginning.
      is_open boolean not null default true,
      created_at timestamptz not null,
      constraint wallet_grant_pkey primary key (tenant_id, id),
      constraint wallet_grant_wallet foreign key (tenant_id, wallet_id)
        references wallet (tenant_id, id),
      constraint wallet_grant_external_id unique (tenant_id, wallet_id, external_id),
      constraint wallet_grant_kind check (kind in ('purchased', 'promotional')),
      constraint wallet_grant_amount check (amount > 0),
      constraint wallet_grant_rest check (rest >= 0 and rest <= amount),
      constraint wallet_grant_held check (held >= 0 and held <= rest),
      constraint wallet_grant_times check (expires_at is null or expires_at > effective_from)
    ) with (fillfactor = 50);
    -- What lists show, in their order.
    create index wallet_grant_listed on wallet_grant (tenant_id, wallet_id, created_at, id);
    create index wallet_grant_open on wallet_grant (tenant_id, wallet_id) where is_open;
    select protect_tenant_rows('wallet_grant');
    -- Not what charges draw: the ledger has that.
    create trigger audit after insert or delete on wallet_grant
      for each row execute function audit_change();
    create trigger audit_end after update on wallet_grant for each row
      when (old.expired_at is distinct from new.expired_at
        or old.revoked_at is distinct from new.revoked_at)
      execute function audit_change();

    create table wallet_entry (
      tenant_id text collate "C" not null references tenant (id),
      wallet_id uuid not null,
      number bigint not null,
      kind text not null,
      -- Moves the balance; 0 of holds and releases, which have 'held'.
      amount numeric not null,
      held numeric,
      balance_after numeric not null,
      grant_id uuid not null,
      charge_id uuid,
      hold_id uuid,
      at timestamptz not null,
      constraint wallet_entry_pkey primary key (tenant_id, wallet_id, number),
      constraint wallet_entry_kind check (
        kind in ('grant', 'draw', 'return', 'hold', 'release', 'expire', 'revoke')
      ),
      constraint wallet_entry_balance check (balance_after >= 0)
    );
    create index wallet_entry_charge on wallet_entry (tenant_id, charge_id)
      where charge_id is not null;
    select protect_tenant_rows('wallet_entry');
    create trigger append_only before update on wallet_entry
      for each row execute function refuse_change();

    insert into wallet_balance (tenant_id, wallet_id, account_id, currency, is_active, balance,
      last_entry)
    select tenant_id, id, account_id, currency, is_active, balance, 1
    from wallet where deleted_at is null and balance > 0;
    insert into wallet_grant (tenant_id, id, wallet_id, external_id, kind, amount, rest,
      effective_from, entered_at, created_at)
    select tenant_id, gen_random_uuid(), id, 'opening', 'purchased', balance, balance,
      created_at, created_at, created_at
    from wallet where deleted_at is null and balance > 0;
    insert into wallet_entry (tenant_id, wallet_id, number, kind, amount, balance_after, grant_id, at)
    select tenant_id, wallet_id, 1, 'grant', amount, amount, id, entered_at from wallet_grant;
  `);
}

export async function down(knex) {
  await knex.raw('drop table wallet_entry, wallet_grant, wallet_balance');
}
