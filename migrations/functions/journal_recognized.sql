-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141000-create-journal.js

CREATE OR REPLACE FUNCTION public.journal_recognized(charge_type text, amount numeric, first_day date, last_day date, until date)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      select case when charge_type <> 'Subscription' or until > last_day then amount
        when until <= first_day then 0
        else round(amount * (until - first_day) / (last_day - first_day + 1), 10) end
    $function$;
