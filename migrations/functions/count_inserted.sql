-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220000-count-rows.js

CREATE OR REPLACE FUNCTION public.count_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_argv[0] = 'soft' then
        perform add_row_count(tenant_id, tg_table_name, count(*))
        from changed where deleted_at is null group by tenant_id;
      else
        perform add_row_count(tenant_id, tg_table_name, count(*)) from changed group by tenant_id;
      end if;
      return null;
    end $function$;

CREATE TRIGGER count_inserted AFTER INSERT ON public.account REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('soft');

CREATE TRIGGER count_inserted AFTER INSERT ON public.contract REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('soft');

CREATE TRIGGER count_inserted AFTER INSERT ON public.invoice REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('hard');

CREATE TRIGGER count_inserted AFTER INSERT ON public.payment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('soft');

CREATE TRIGGER count_inserted AFTER INSERT ON public.service REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('soft');

CREATE TRIGGER count_inserted AFTER INSERT ON public.wallet REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_inserted('soft');
