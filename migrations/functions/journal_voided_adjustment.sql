-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211150000-journal-adjustments.js

CREATE OR REPLACE FUNCTION public.journal_voided_adjustment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select old.tenant_id, journal_now(old.tenant_id), 'adjustment', old.account_id, old.currency,
        'charge', old.id, array['unbilled', 'revenue'], array[-old.amount, old.amount];
      return null;
    end $function$;

CREATE TRIGGER journal_void AFTER UPDATE ON public.adjustment_charge FOR EACH ROW WHEN (((old.voided_at IS NULL) AND (new.voided_at IS NOT NULL) AND (old.amount <> (0)::numeric))) EXECUTE FUNCTION journal_voided_adjustment();
