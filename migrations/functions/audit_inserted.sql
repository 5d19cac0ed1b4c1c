-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261123100100-audit-inserted-invoices.js
-- migrations/20261126110000-record-security-events.js
-- migrations/20261126110100-chain-audit.js

CREATE OR REPLACE FUNCTION public.audit_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    begin
      insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, after)
      select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), ''), tg_table_name, id, 'create', to_jsonb(added) from added;
      return null;
    end $function$;

CREATE TRIGGER audit_inserted AFTER INSERT ON public.invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION audit_inserted();

CREATE TRIGGER audit_inserted AFTER INSERT ON public.invoice_item REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION audit_inserted();
