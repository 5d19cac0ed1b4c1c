-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_changed_accounts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    part record;
  begin
    for part in
      select tenant_id, array_agg(distinct master_account_id) as ids from changed
      where master_account_id is not null group by tenant_id
    loop
      perform raise_accounts(part.tenant_id, part.ids);
    end loop;
    return null;
  end $function$;

CREATE TRIGGER raise_rating_version_deleted AFTER DELETE ON public.contract REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_accounts();

CREATE TRIGGER raise_rating_version_inserted AFTER INSERT ON public.contract REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_accounts();

CREATE TRIGGER raise_rating_version_moved AFTER UPDATE ON public.contract REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_accounts();

CREATE TRIGGER raise_rating_version_updated AFTER UPDATE ON public.contract REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_accounts();
