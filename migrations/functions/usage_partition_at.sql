-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.usage_partition_at(whole text, at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
    begin
      return (select known.name from usage_partitions() as known
        where known.parent = whole and known.end_id > uuid_at(at)
          and (known.first_id is null or known.first_id <= uuid_at(at)));
    end $function$;
