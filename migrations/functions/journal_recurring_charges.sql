-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141500-journal-recurring-charges.js

CREATE OR REPLACE FUNCTION public.journal_recurring_charges()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform journal_recurring(tenant_id, currency, account_id, id, usage_type, charge_type, amount,
        bill_start_date, bill_end_date, 1)
      from added where voided_at is null;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.recurring_charge REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION journal_recurring_charges();
