-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210130000-create-adjustments.js

CREATE OR REPLACE FUNCTION public.raise_adjusted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      part record;
    begin
      for part in
        select tenant_id, array_agg(distinct account_id) filter (where account_id is not null) as accounts,
          array_agg(distinct contract_id) filter (where contract_id is not null) as contracts,
          array_agg(distinct contract_service_id) filter (where contract_service_id is not null) as lines
        from changed group by tenant_id
      loop
        if part.accounts is not null then
          perform raise_accounts(part.tenant_id, part.accounts);
        end if;
        if part.contracts is not null then
          perform raise_contracts(part.tenant_id, part.contracts);
        end if;
        if part.lines is not null then perform raise_lines(part.tenant_id, part.lines); end if;
      end loop;
      return null;
    end $function$;

CREATE TRIGGER raise_rating_version_delete_old AFTER DELETE ON public.adjustment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_adjusted();

CREATE TRIGGER raise_rating_version_insert_new AFTER INSERT ON public.adjustment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_adjusted();

CREATE TRIGGER raise_rating_version_update_new AFTER UPDATE ON public.adjustment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_adjusted();
