-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209090300-divide-usage-facts.js
-- migrations/20270119000000-analyze-usage-that-has-grown.js

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
        join pg_class as whole on whole.oid = stat.relid
        cross join lateral (
          select max(part.reltuples) as largest, sum(greatest(part.reltuples, 0)) as "all"
          from pg_inherits join pg_class as part on part.oid = inhrelid
          where inhparent = stat.relid
        ) as known
        where stat.relid = kept::regclass and known.largest >= 1000 and (stat.last_analyze < now() - interval '1 day' or stat.last_analyze is null or known."all" > 2 * greatest(whole.reltuples, 0))
      ) and pg_try_advisory_xact_lock(hashtextextended('usage-partitions-known', 0)) then
        execute format('analyze %I', kept);
        done := true;
      end if;
    end loop;
    return done;
  end $function$;
