-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.erased_json(given json, wholes text[], parts text[])
 RETURNS json
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
    begin
      case json_typeof(given)
        when 'string' then
          -- What no text of PostgreSQL can hold cannot be compared.
          if strpos(given::text, '\u0000') > 0 then return '"[erased]"'; end if;
          if erased_text(given #>> '{}', wholes, parts) = given #>> '{}' then return given; end if;
          return '"[erased]"';
        when 'object' then
          return coalesce((
            select '{' || string_agg(to_json(key)::text || ':'
              || erased_json(value, wholes, parts)::text, ',' order by number) || '}'
            from json_each(given) with ordinality as member (key, value, number)
          ), '{}');
        when 'array' then
          return coalesce((
            select '[' || string_agg(erased_json(value, wholes, parts)::text, ',' order by number)
              || ']'
            from json_array_elements(given) with ordinality as item (value, number)
          ), '[]');
        else return given;
      end case;
    end $function$;
