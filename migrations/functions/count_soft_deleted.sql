-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220000-count-rows.js

CREATE OR REPLACE FUNCTION public.count_soft_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform add_row_count(
        new.tenant_id, tg_table_name, case when new.deleted_at is null then 1 else -1 end);
      return null;
    end $function$;

CREATE TRIGGER count_soft_deleted AFTER UPDATE OF deleted_at ON public.account FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION count_soft_deleted();

CREATE TRIGGER count_soft_deleted AFTER UPDATE OF deleted_at ON public.contract FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION count_soft_deleted();

CREATE TRIGGER count_soft_deleted AFTER UPDATE OF deleted_at ON public.payment FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION count_soft_deleted();

CREATE TRIGGER count_soft_deleted AFTER UPDATE OF deleted_at ON public.service FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION count_soft_deleted();

CREATE TRIGGER count_soft_deleted AFTER UPDATE OF deleted_at ON public.wallet FOR EACH ROW WHEN (((old.deleted_at IS NULL) <> (new.deleted_at IS NULL))) EXECUTE FUNCTION count_soft_deleted();
