-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121100000-create-platform.js
-- migrations/20261126110000-record-security-events.js
-- migrations/20261126110100-chain-audit.js

CREATE OR REPLACE FUNCTION public.audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      was jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
      is_now jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      -- The version is raised whenever a part changes; the part has its own entry.
      if tg_op = 'UPDATE' and (was - ignored) = (is_now - ignored) then return null; end if;
      insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, before, after)
      values (
        coalesce(is_now, was) ->> 'tenant_id', current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), ''), tg_table_name,
        (coalesce(is_now, was) ->> 'id')::uuid,
        case
          when tg_op = 'INSERT' then 'create'
          when tg_op = 'DELETE' then 'delete'
          when was ->> 'deleted_at' is null and is_now ->> 'deleted_at' is not null then 'delete'
          else 'update'
        end,
        was,
        is_now
      );
      return null;
    end $function$;

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.account FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.address FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.adjustment FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.alert FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.approval FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.approval_decision FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.attribute FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.contract FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.contract_service FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER DELETE OR UPDATE ON public.invoice FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER DELETE OR UPDATE ON public.invoice_item FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.payment FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.payment_application FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.pricing_logic FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.rate_card FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.rate_card_row FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.record_type FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.repricing FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.service FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.service_layout FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tax_rate FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.tool_call FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.usage_correction FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.usage_event_change FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.wallet FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE ON public.wallet_grant FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit_end AFTER UPDATE ON public.wallet_grant FOR EACH ROW WHEN (((old.expired_at IS DISTINCT FROM new.expired_at) OR (old.revoked_at IS DISTINCT FROM new.revoked_at))) EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.wallet_hold FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.webhook FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.workflow_definition FOR EACH ROW EXECUTE FUNCTION audit_change();

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON public.workflow_version FOR EACH ROW EXECUTE FUNCTION audit_change();
