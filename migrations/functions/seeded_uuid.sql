-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122120000-create-billing.js

CREATE OR REPLACE FUNCTION public.seeded_uuid(seed uuid, content text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((((("left"(replace((seed)::text, '-'::text, ''::text), 12) || '8'::text) || substr(md5(((seed)::text || content)), 1, 3)) || '8'::text) || substr(md5(((seed)::text || content)), 4, 15)))::uuid;
