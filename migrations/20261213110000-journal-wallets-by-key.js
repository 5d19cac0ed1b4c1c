/**
 * Each grant and wallet that a batch has moved is looked up once, by its key. As joins, which are planned
 * when a session has hardly any wallets, they compared every entry with every grant and every wallet of
 * the tenant: a batch of a thousand charges took seconds (docs/decisions/0446).
 */
const journalWallets = (moved) => `
  create or replace function journal_wallets() returns trigger language plpgsql as $$
  begin
    insert into journal_entry
      (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
    select tenant_id, journal_now(tenant_id), kind, account_id, currency, 'wallet', wallet_id,
      array[
        case when is_promotional then 'promotional' else 'wallet' end,
        case when kind in ('draw', 'return') then 'unbilled'
          when is_promotional then 'promotions'
          when kind = 'expire' then 'breakage'
          when kind = 'grant' and is_paid then 'unapplied'
          else 'clearing' end
      ],
      array[-amount, amount]
    from (
      select entry.tenant_id, entry.wallet_id, entry.kind, wallet.account_id,
        coalesce(wallet.currency, 'XXX') as currency, given.kind = 'promotional' as is_promotional,
        given.payment_id is not null as is_paid, sum(entry.amount) as amount
      ${moved}
      group by 1, 2, 3, 4, 5, 6, 7
    ) as moved where amount <> 0;
    return null;
  end $$`;

export async function up(knex) {
  await knex.raw(
    journalWallets(`
      from (
        select tenant_id, wallet_id, grant_id, kind, sum(amount) as amount
        from added where amount <> 0 group by 1, 2, 3, 4
      ) as entry
        cross join lateral (
          select own.kind, own.payment_id from wallet_grant as own
          where own.tenant_id = entry.tenant_id and own.id = entry.grant_id limit 1
        ) as given
        cross join lateral (
          select own.account_id, own.currency from wallet_balance as own
          where own.tenant_id = entry.tenant_id and own.wallet_id = entry.wallet_id limit 1
        ) as wallet`),
  );
}

export async function down(knex) {
  await knex.raw(
    journalWallets(`
      from added as entry
        join wallet_grant as given
          on given.tenant_id = entry.tenant_id and given.id = entry.grant_id
        join wallet_balance as wallet
          on wallet.tenant_id = entry.tenant_id and wallet.wallet_id = entry.wallet_id
      where entry.amount <> 0`),
  );
}
