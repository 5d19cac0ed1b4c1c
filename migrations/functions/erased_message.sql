-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.erased_message(given text, reference text, wholes text[], parts text[])
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public'
AS $function$
    begin
      return coalesce((
        select '{' || string_agg(to_json(key)::text || ':' || case
          when key = 'billingAccountRef' then to_json(reference)::text
          -- Events are known by it, so that none is charged twice.
          when key = 'externalTransactionId' then value::text
          else erased_json(value, wholes, parts)::text end, ',' order by number) || '}'
        from json_each(given::json) with ordinality as member (key, value, number)
        where key in ('externalTransactionId', 'serviceId', 'eventTimestamp', 'billingAccountRef',
          'dimensions', 'quantity', 'serviceInstanceId', 'priceUnitLabel')
      ), '{}');
    exception when others then
      return '{}';
    end $function$;
