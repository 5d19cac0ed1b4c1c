-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.is_marked(given text, marks text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select exists (select from unnest(marks) as mark where strpos(lower(given), mark) > 0)
    $function$;
