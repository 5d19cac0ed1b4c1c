-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261123100000-record-billed-usage.js

CREATE OR REPLACE FUNCTION public.drop_unbilled_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      delete from unbilled_usage as known using removed
      where known.tenant_id = removed.tenant_id and known.account_id = removed.account_id
        and known.transaction_date = removed.transaction_date
        and known.transaction_id = removed.id;
      return null;
    end $function$;

CREATE TRIGGER drop_unbilled AFTER DELETE ON public.rated_transaction REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION drop_unbilled_usage();
