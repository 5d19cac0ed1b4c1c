-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_accounts(tenant text, ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      perform from account where tenant_id = tenant and id = any(ids) order by id
        for no key update;
      update account set rating_version = rating_version + 1
      where tenant_id = tenant and id = any(ids);
    end $function$;
