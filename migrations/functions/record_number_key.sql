-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122000000-create-record.js

CREATE OR REPLACE FUNCTION public.record_number_key(value numeric)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    declare
      digits text := trim_scale(abs(value))::text;
      whole text := ltrim(split_part(digits, '.', 1), '0');
      magnitude text := lpad(length(whole)::text, 2, '0') || whole || split_part(digits, '.', 2);
    begin
      if value < 0 then return '0' || translate(magnitude, '0123456789', '9876543210') || '~'; end if;
      return '1' || magnitude;
    end $function$;
