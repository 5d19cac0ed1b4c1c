-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207300000-mirror-retention-defaults.js

CREATE OR REPLACE FUNCTION public.mirror_retention_defaults(rules jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      delete from retention_rule where tenant_id = '*' and kind not in (
        select given.kind from jsonb_to_recordset(rules) as given (kind text)
      );
      insert into retention_rule as known (tenant_id, kind, days)
      select '*', given.kind, given.days
      from jsonb_to_recordset(rules) as given (kind text, days integer)
      on conflict (tenant_id, kind) do update set days = excluded.days, updated_at = now()
        where known.days is distinct from excluded.days;
    $function$;
