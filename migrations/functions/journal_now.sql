-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141000-create-journal.js

CREATE OR REPLACE FUNCTION public.journal_now(tenant text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
      select coalesce((select stands_at from tenant_clock where tenant_id = tenant), now())
    $function$;
