-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300200-raise-rating-versions.js

CREATE OR REPLACE FUNCTION public.raise_changed_owners()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      part record;
    begin
      for part in
        select tenant_id, array_agg(distinct service_id) filter (where service_id is not null) as services,
          array_agg(distinct contract_service_id) filter (where contract_service_id is not null) as lines
        from changed group by tenant_id
      loop
        if part.services is not null then
          perform raise_services(part.tenant_id, part.services);
        end if;
        if part.lines is not null then perform raise_lines(part.tenant_id, part.lines); end if;
      end loop;
      return null;
    end $function$;

CREATE TRIGGER raise_rating_version_deleted AFTER DELETE ON public.attribute REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();

CREATE TRIGGER raise_rating_version_inserted AFTER INSERT ON public.attribute REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();

CREATE TRIGGER raise_rating_version_updated AFTER UPDATE ON public.attribute REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();

CREATE TRIGGER raise_rating_version_deleted AFTER DELETE ON public.rate_card REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();

CREATE TRIGGER raise_rating_version_inserted AFTER INSERT ON public.rate_card REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();

CREATE TRIGGER raise_rating_version_updated AFTER UPDATE ON public.rate_card REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_changed_owners();
