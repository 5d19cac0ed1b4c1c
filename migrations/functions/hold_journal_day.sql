-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141000-create-journal.js

CREATE OR REPLACE FUNCTION public.hold_journal_day(tenant text)
 RETURNS date
 LANGUAGE plpgsql
AS $function$
    declare
      day date;
    begin
      loop
        select recognized_until into day from journal_state where tenant_id = tenant for share;
        if found then return day; end if;
        insert into journal_state (tenant_id, recognized_until, opened_at)
        values (tenant, (journal_now(tenant) at time zone 'UTC')::date, journal_now(tenant))
        on conflict do nothing;
      end loop;
    end $function$;
