-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_cards(tenant text, ids uuid[])
 RETURNS void
 LANGUAGE sql
AS $function$
      select raise_services(tenant, array_agg(distinct service_id)),
        raise_lines(tenant, array_agg(distinct contract_service_id))
      from rate_card where tenant_id = tenant and id = any(ids)
    $function$;
