-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220000-count-rows.js

CREATE OR REPLACE FUNCTION public.count_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_argv[0] = 'soft' then
        perform add_row_count(tenant_id, tg_table_name, -count(*))
        from changed where deleted_at is null group by tenant_id;
      else
        perform add_row_count(tenant_id, tg_table_name, -count(*)) from changed group by tenant_id;
      end if;
      return null;
    end $function$;

CREATE TRIGGER count_removed AFTER DELETE ON public.account REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('soft');

CREATE TRIGGER count_removed AFTER DELETE ON public.contract REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('soft');

CREATE TRIGGER count_removed AFTER DELETE ON public.invoice REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('hard');

CREATE TRIGGER count_removed AFTER DELETE ON public.payment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('soft');

CREATE TRIGGER count_removed AFTER DELETE ON public.service REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('soft');

CREATE TRIGGER count_removed AFTER DELETE ON public.wallet REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed('soft');
