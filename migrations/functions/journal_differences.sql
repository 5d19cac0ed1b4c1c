-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211150200-keep-billed-differences.js

CREATE OR REPLACE FUNCTION public.journal_differences(tenant text, account_id uuid, currency text, corrected uuid, net numeric)
 RETURNS void
 LANGUAGE sql
AS $function$
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), 'credit-note', account_id, currency, 'invoice', corrected,
        array['unbilled', 'credited'], array[net, -net]
      where net <> 0
    $function$;
