-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122000000-create-record.js

CREATE OR REPLACE FUNCTION public.record_instant_key(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    begin
      if value !~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}(T([01][0-9]|2[0-3]):[0-5][0-9]'
        || '(:[0-5][0-9]([.][0-9]{1,6}){0,1}){0,1}(Z|[+-][0-9]{2}:[0-9]{2}){0,1}){0,1}$') then
        return null;
      end if;
      return rtrim(to_char(
        (case
          when length(value) = 10 then value || 'T00:00Z'
          when value ~ '(Z|[+-][0-9]{2}:[0-9]{2})$' then value
          else value || 'Z'
        end)::timestamptz at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), '0');
    exception when data_exception then
      return null;
    end $function$;
