-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121100000-create-platform.js

CREATE OR REPLACE FUNCTION public.protect_platform_rows(target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      execute format('alter table %s enable row level security, force row level security', target);
      execute format(
        'create policy platform_rows on %s
           using (current_setting(''app.tenant_id'', true) in (tenant_id, ''*''))
           with check (current_setting(''app.tenant_id'', true) in (tenant_id, ''*''))', target);
    end $function$;
