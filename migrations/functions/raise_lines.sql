-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_lines(tenant text, ids uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
      select raise_contracts(tenant, array_agg(distinct contract_id)) from contract_service
      where tenant_id = tenant and id = any(ids)
    $function$;
