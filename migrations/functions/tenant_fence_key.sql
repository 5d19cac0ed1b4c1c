-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207000200-create-tenant-fence.js

CREATE OR REPLACE FUNCTION public.tenant_fence_key(tenant text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
      select hashtextextended('tenant-fence/' || tenant, 0)
    $function$;
