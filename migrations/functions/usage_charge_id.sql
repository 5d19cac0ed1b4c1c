-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261130100000-total-usage.js

CREATE OR REPLACE FUNCTION public.usage_charge_id(event_id uuid, number integer)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((("left"((event_id)::text, 19) || lpad(to_hex((32768 + number)), 4, '0'::text)) || "right"((event_id)::text, 13)))::uuid;
