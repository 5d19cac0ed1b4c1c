-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209090300-divide-usage-facts.js

CREATE OR REPLACE FUNCTION public.analyze_usage_partitions()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      kept text;
      done boolean := false;
    begin
      foreach kept in array array['usage_event', 'rated_transaction'] loop
        if exists (
          select from pg_stat_user_tables as stat
          where stat.relid = kept::regclass and (
            stat.last_analyze < now() - interval '1 day' or stat.last_analyze is null
          ) and exists (
            select from pg_inherits join pg_class as part on part.oid = inhrelid
            where inhparent = stat.relid and part.reltuples >= 1000
          )
        ) and pg_try_advisory_xact_lock(hashtextextended('usage-partitions-known', 0)) then
          execute format('analyze %I', kept);
          done := true;
        end if;
      end loop;
      return done;
    end $function$;
