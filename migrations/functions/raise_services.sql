-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_services(tenant text, ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      perform from service where tenant_id = tenant and id = any(ids) order by id
        for no key update;
      update service set rating_version = rating_version + 1
      where tenant_id = tenant and id = any(ids);
    end $function$;
