-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121100000-create-platform.js

CREATE OR REPLACE FUNCTION public.audit_table(target regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      execute format('create trigger audit after insert or update or delete on %s
        for each row execute function audit_change()', target);
    end $function$;
