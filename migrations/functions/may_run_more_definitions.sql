-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211171200-ask-about-running.js

CREATE OR REPLACE FUNCTION public.may_run_more_definitions(of_tenant text, most integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      entered text := coalesce(current_setting('app.tenant_id', true), '');
      running integer;
    begin
      if entered not in (of_tenant, '*') then
        raise insufficient_privilege using message = 'a session asks about its own tenant';
      end if;
      perform set_config('app.tenant_id', of_tenant, true);
      select count(*) into running from (
        select from execution where tenant_id = of_tenant and status = 'running'
          and workflow like 'runDefinition/%' limit most
      ) as known;
      perform set_config('app.tenant_id', entered, true);
      return running < most;
    end $function$;
