-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141200-journal-wallets.js
-- migrations/20261213110000-journal-wallets-by-key.js
-- migrations/20261215000000-look-up-by-key-in-batches.js

CREATE OR REPLACE FUNCTION public.journal_wallets()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
  begin
    if not exists (select from added where amount <> 0) then return null; end if;
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
      from (
        select tenant_id, wallet_id, grant_id, kind, sum(amount) as amount
        from added where amount <> 0 group by 1, 2, 3, 4
      ) as entry
        
  cross join lateral (
    select kind, payment_id from (
      select * from wallet_grant as own
      where own.tenant_id = entry.tenant_id and own.id >= entry.grant_id
      order by own.id limit 1
    ) as first where first.id = entry.grant_id
  ) as given
        
  cross join lateral (
    select account_id, currency from (
      select * from wallet_balance as own
      where own.tenant_id = entry.tenant_id and own.wallet_id >= entry.wallet_id
      order by own.wallet_id limit 1
    ) as first where first.wallet_id = entry.wallet_id
  ) as wallet
      group by 1, 2, 3, 4, 5, 6, 7
    ) as moved where amount <> 0;
    return null;
  end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.wallet_entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION journal_wallets();
