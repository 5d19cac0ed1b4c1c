-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261205100000-find-events-apart.js

CREATE OR REPLACE FUNCTION public.usage_is_moved(id uuid, partition integer, place bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((substr(uuid_send(id), 7, 2) || substr(uuid_send(id), 11)) <> (substr(int4send((28672 + partition)), 3) || substr(int8send(place), 3)));
