-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261205100400-list-rated-events.js

CREATE OR REPLACE FUNCTION public.list_rated_again()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into usage_unlisted (tenant_id, events, ids, account_ids, service_ids)
      select tenant_id, count(*), array_agg(id), array_agg(changed.account_id),
        array_agg(changed.service_id)
      from changed join was using (tenant_id, id)
      where changed.status = 'rated' and was.status <> 'rated' group by tenant_id;
      return null;
    end $function$;

CREATE TRIGGER list_changed AFTER UPDATE ON public.usage_event REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION list_rated_again();
