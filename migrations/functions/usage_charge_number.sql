-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209100200-name-corrected-invoices.js

CREATE OR REPLACE FUNCTION public.usage_charge_number(id uuid)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (((get_byte(uuid_send(id), 8) & 63) * 256) + get_byte(uuid_send(id), 9));
