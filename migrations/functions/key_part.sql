-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261130100000-total-usage.js

CREATE OR REPLACE FUNCTION public.key_part(part text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (part IS NULL) THEN '-'::text ELSE (((octet_length(part))::text || ':'::text) || part) END;
