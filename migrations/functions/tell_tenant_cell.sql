-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207000000-create-tenant-cell.js

CREATE OR REPLACE FUNCTION public.tell_tenant_cell()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_notify('tenant_cell', coalesce(new.tenant_id, old.tenant_id));
      return null;
    end $function$;

CREATE TRIGGER tell_tenant_cell AFTER INSERT OR DELETE OR UPDATE ON public.tenant_cell FOR EACH ROW EXECUTE FUNCTION tell_tenant_cell();
