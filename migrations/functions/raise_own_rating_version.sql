-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_own_rating_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      if new.rating_version = old.rating_version
        and (to_jsonb(new) - ignored) <> (to_jsonb(old) - ignored)
      then
        new.rating_version := old.rating_version + 1;
      end if;
      return new;
    end $function$;

CREATE TRIGGER raise_own_rating_version BEFORE UPDATE ON public.account FOR EACH ROW EXECUTE FUNCTION raise_own_rating_version();

CREATE TRIGGER raise_own_rating_version BEFORE UPDATE ON public.service FOR EACH ROW EXECUTE FUNCTION raise_own_rating_version();
