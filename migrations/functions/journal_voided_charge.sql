-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141500-journal-recurring-charges.js

CREATE OR REPLACE FUNCTION public.journal_voided_charge()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform journal_recurring(old.tenant_id, old.currency, old.account_id, old.id, old.usage_type,
        old.charge_type, old.amount, old.bill_start_date, old.bill_end_date, -1);
      return null;
    end $function$;

CREATE TRIGGER journal_void AFTER UPDATE ON public.recurring_charge FOR EACH ROW WHEN (((old.voided_at IS NULL) AND (new.voided_at IS NOT NULL))) EXECUTE FUNCTION journal_voided_charge();
