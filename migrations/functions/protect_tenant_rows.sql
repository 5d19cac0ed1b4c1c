-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121100000-create-platform.js

CREATE OR REPLACE FUNCTION public.protect_tenant_rows(target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      execute format('alter table %s enable row level security, force row level security', target);
      execute format(
        'create policy tenant_rows on %s
           using (tenant_id = current_setting(''app.tenant_id'', true))
           with check (tenant_id = current_setting(''app.tenant_id'', true))', target);
    end $function$;
