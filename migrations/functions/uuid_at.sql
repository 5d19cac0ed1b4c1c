-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261206100000-create-retention.js

CREATE OR REPLACE FUNCTION public.uuid_at(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE STRICT
AS $function$
      select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
        || '70008000000000000000')::uuid
    $function$;
