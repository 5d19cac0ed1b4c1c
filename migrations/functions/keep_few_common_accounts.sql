-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209090300-divide-usage-facts.js

CREATE OR REPLACE FUNCTION public.keep_few_common_accounts(part text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      execute format('alter table public.%I alter column account_id set statistics 10', part);
    end $function$;
