-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261205100400-list-rated-events.js

CREATE OR REPLACE FUNCTION public.list_rated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into usage_unlisted (tenant_id, events, ids, account_ids, service_ids)
      select tenant_id, count(*), array_agg(id), array_agg(account_id), array_agg(service_id)
      from changed where status = 'rated' group by tenant_id;
      return null;
    end $function$;

CREATE TRIGGER list_inserted AFTER INSERT ON public.usage_event REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION list_rated();
