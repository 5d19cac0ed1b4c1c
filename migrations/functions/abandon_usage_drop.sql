-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.abandon_usage_drop(month date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '4s'
AS $function$
    declare
      whole text;
      part text;
    begin
      foreach whole in array array['usage_event', 'rated_transaction'] loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        execute format('drop table if exists public.%I', part || '_kept');
      end loop;
    end $function$;
