/** What moves the balance of a wallet; one entry for a wallet and a kind, whatever the charges. */
export async function up(knex) {
  await knex.raw(`
    create function journal_wallets() returns trigger language plpgsql as $$
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
        from added as entry
          join wallet_grant as given
            on given.tenant_id = entry.tenant_id and given.id = entry.grant_id
          join wallet_balance as wallet
            on wallet.tenant_id = entry.tenant_id and wallet.wallet_id = entry.wallet_id
        where entry.amount <> 0
        group by 1, 2, 3, 4, 5, 6, 7
      ) as moved where amount <> 0;
      return null;
    end $$;
    create trigger journal after insert on wallet_entry
      referencing new table as added for each statement execute function journal_wallets();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal on wallet_entry;
    drop function journal_wallets();
  `);
}
