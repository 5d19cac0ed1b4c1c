-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261126110100-chain-audit.js

CREATE OR REPLACE FUNCTION public.audit_hash(previous bytea, place bigint, entry audit)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select sha256(previous || convert_to(audit_text(place, entry), 'UTF8'))
    $function$;
