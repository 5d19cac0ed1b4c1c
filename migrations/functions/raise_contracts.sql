-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_contracts(tenant text, ids uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
      select raise_accounts(tenant, array_agg(distinct master_account_id)) from contract
      where tenant_id = tenant and id = any(ids)
    $function$;
