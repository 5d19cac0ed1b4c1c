-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261126110100-chain-audit.js
-- migrations/20261206100000-create-retention.js
-- migrations/20261206200000-create-erasure.js

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      -- What a cut covers may go, in 'age_audit' alone.
      if tg_op = 'DELETE' and tg_level = 'ROW' and current_setting('app.ageing', true) = 'on' then
        if tg_table_name = 'audit' then
          if exists (
            select from audit_cut as cut join audit_seal as seal
              on seal.tenant_id = cut.tenant_id and seal.position <= cut.position
            where cut.tenant_id = old.tenant_id and seal.audit_id = old.id
          ) then return old; end if;
        elsif tg_table_name = 'audit_seal' then
          if exists (
            select from audit_cut as cut
            where cut.tenant_id = old.tenant_id and cut.position >= old.position
          ) then return old; end if;
        end if;
      end if;
      -- States lose what an erasure looks for, in 'erase_audit' alone.
      if tg_op = 'UPDATE' and tg_table_name = 'audit' then
        if current_setting('app.erasing', true) = 'on'
          and to_jsonb(new) - 'before' - 'after' = to_jsonb(old) - 'before' - 'after'
        then return new; end if;
      end if;
      raise insufficient_privilege using message = format('%s is append-only', tg_table_name);
    end $function$;

CREATE TRIGGER append_only BEFORE UPDATE ON public.alert_trigger FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.audit FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.audit_seal FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER never_truncated BEFORE TRUNCATE ON public.audit_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER append_only BEFORE UPDATE ON public.journal_entry FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER append_only BEFORE UPDATE ON public.wallet_entry FOR EACH ROW EXECUTE FUNCTION refuse_change();
