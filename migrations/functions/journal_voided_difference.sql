-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211150200-keep-billed-differences.js

CREATE OR REPLACE FUNCTION public.journal_voided_difference()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform journal_differences(old.tenant_id, old.account_id, old.currency,
        old.corrected_invoice_id, -(old.amount - old.discounted - old.credited));
      return null;
    end $function$;

CREATE TRIGGER journal_void AFTER UPDATE ON public.billed_difference FOR EACH ROW WHEN ((old.is_credited AND (old.voided_at IS NULL) AND (new.voided_at IS NOT NULL))) EXECUTE FUNCTION journal_voided_difference();
