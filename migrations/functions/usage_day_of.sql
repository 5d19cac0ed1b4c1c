-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220100-tally-usage-days.js

CREATE OR REPLACE FUNCTION public.usage_day_of(event_at timestamp with time zone, received_at timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((COALESCE(event_at, received_at) AT TIME ZONE 'UTC'::text))::date;
