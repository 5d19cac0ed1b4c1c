-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.erased_document(given text, wholes text[], parts text[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
    begin
      return erased_json(given::json, wholes, parts)::text;
    exception when others then
      return '"[erased]"';
    end $function$;
