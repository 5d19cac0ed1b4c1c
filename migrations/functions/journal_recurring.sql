-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141500-journal-recurring-charges.js

CREATE OR REPLACE FUNCTION public.journal_recurring(tenant text, currency text, account_id uuid, record_id uuid, usage_type text, charge_type text, amount numeric, first_day date, last_day date, sign integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
      until date := hold_journal_day(tenant);
      direction integer := case when usage_type = 'Payout' then -sign else sign end;
      earned numeric := journal_recognized(charge_type, amount, first_day, last_day, until);
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), 'recurring', account_id, currency, 'charge', record_id,
        array_agg(posting.account order by posting.n), array_agg(posting.amount order by posting.n)
      from (values
        (1, 'unbilled', direction * amount),
        (2, case when usage_type = 'Payout' then 'payouts' else 'revenue' end, -direction * earned),
        (3, 'deferred', -direction * (amount - earned))
      ) as posting (n, account, amount) where posting.amount <> 0
      having count(*) > 0;
    end $function$;
