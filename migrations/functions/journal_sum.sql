-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141000-create-journal.js

CREATE OR REPLACE FUNCTION public.journal_sum(amounts numeric[])
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      select coalesce(sum(amount), 0) from unnest(amounts) as amount
    $function$;
