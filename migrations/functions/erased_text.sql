-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.erased_text(given text, wholes text[], parts text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
      select case when lower(given) = any(wholes) or is_marked(given, parts)
        then '[erased]' else given end
    $function$;
