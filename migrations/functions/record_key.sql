-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122000000-create-record.js

CREATE OR REPLACE FUNCTION public.record_key(value jsonb, type text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    begin
      if jsonb_typeof(value) <> (case type when 'date' then 'string' else type end) then
        return null;
      end if;
      return case type
        when 'string' then left(value #>> '{}', 256)
        when 'number' then record_number_key(value::numeric)
        when 'date' then record_instant_key(value #>> '{}')
        else value #>> '{}'
      end;
    end $function$;
