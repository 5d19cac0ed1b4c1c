-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220100-tally-usage-days.js

CREATE OR REPLACE FUNCTION public.usage_shard(id uuid)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (((get_byte(uuid_send(id), 6) & 15) * 256) + get_byte(uuid_send(id), 7));
