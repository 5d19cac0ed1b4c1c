-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261126110100-chain-audit.js

CREATE OR REPLACE FUNCTION public.audit_text(place bigint, entry audit)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select jsonb_build_array(place, entry.tenant_id, entry.id,
        to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), entry.actor,
        entry.request_id, entry.caller_request_id, entry.entity, entry.entity_id, entry.entity_key,
        entry.action, entry.before, entry.after)::text
    $function$;
