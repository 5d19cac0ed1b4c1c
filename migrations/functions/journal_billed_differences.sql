-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211150200-keep-billed-differences.js

CREATE OR REPLACE FUNCTION public.journal_billed_differences()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform journal_differences(tenant_id, account_id, currency, corrected_invoice_id,
        amount - discounted - credited)
      from added where is_credited and voided_at is null;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.billed_difference REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION journal_billed_differences();
