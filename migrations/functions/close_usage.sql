-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261123100000-record-billed-usage.js

CREATE OR REPLACE FUNCTION public.close_usage(tenant text, accounts uuid[], until date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      -- Waits for the transactions that are rating, and lets no other begin to write.
      perform pg_advisory_xact_lock(usage_lock(tenant));
      insert into closed_usage as known (tenant_id, account_id, closed_until)
      select tenant, account, until from unnest(accounts) as account order by account
      on conflict (tenant_id, account_id) do update set closed_until = excluded.closed_until
      where known.closed_until < excluded.closed_until;
    end $function$;
