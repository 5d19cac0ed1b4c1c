-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206100000-create-retention.js
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.audit_fits(sealed bytea, previous bytea, place bigint, entry audit)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select sealed = own.hash or exists (
        select from audit_redaction as known where known.tenant_id = entry.tenant_id
          and known.audit_id = entry.id and known.hash = own.hash
      ) from (select audit_hash(previous, place, entry) as hash) as own
    $function$;
