-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_changed_cards()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    part record;
  begin
    for part in
      select tenant_id, array_agg(distinct rate_card_id) as ids from changed
      where rate_card_id is not null group by tenant_id
    loop
      perform raise_cards(part.tenant_id, part.ids);
    end loop;
    return null;
  end $function$;

CREATE TRIGGER raise_rating_version_deleted AFTER DELETE ON public.rate_card_row REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_cards();

CREATE TRIGGER raise_rating_version_inserted AFTER INSERT ON public.rate_card_row REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_cards();

CREATE TRIGGER raise_rating_version_updated AFTER UPDATE ON public.rate_card_row REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_cards();
