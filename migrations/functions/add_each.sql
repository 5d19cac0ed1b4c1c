-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261130100000-total-usage.js

CREATE OR REPLACE FUNCTION public.add_each(a numeric[], b numeric[])
 RETURNS numeric[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(SELECT (pair.x + pair.y) FROM UNNEST(add_each.a, add_each.b) WITH ORDINALITY pair(x, y, n) ORDER BY pair.n);
