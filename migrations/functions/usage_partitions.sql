-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209090300-divide-usage-facts.js

CREATE OR REPLACE FUNCTION public.usage_partitions()
 RETURNS TABLE(parent text, name text, first_id uuid, end_id uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select parent.relname::text, part.relname::text,
        substring(bound from 'FROM \(''([0-9a-f-]{36})''\)')::uuid,
        substring(bound from 'TO \(''([0-9a-f-]{36})''\)')::uuid
      from pg_inherits join pg_class as part on part.oid = inhrelid
      join pg_class as parent on parent.oid = inhparent
      cross join lateral (select pg_get_expr(part.relpartbound, part.oid)) as declared (bound)
      where parent.oid in ('public.usage_event'::regclass, 'public.rated_transaction'::regclass)
      order by 1, 3 nulls first
    $function$;
