-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207000000-create-tenant-cell.js

CREATE OR REPLACE FUNCTION public.mirror_tenants(tenants jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      update tenant set name = given.name, suspended_at = given."suspendedAt"
      from jsonb_to_recordset(tenants) as given (id text, name text, "suspendedAt" timestamptz)
      where tenant.id = given.id
        and (tenant.name, tenant.suspended_at) is distinct from (given.name, given."suspendedAt")
    $function$;
