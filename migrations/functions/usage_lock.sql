-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261123100000-record-billed-usage.js

CREATE OR REPLACE FUNCTION public.usage_lock(tenant text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN hashtextextended(('usage/'::text || tenant), (0)::bigint);
