-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261211150000-journal-adjustments.js

CREATE OR REPLACE FUNCTION public.journal_adjustments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant_id, journal_now(tenant_id), 'adjustment', account_id, currency, 'charge', id,
        array['unbilled', 'revenue'], array[amount, -amount]
      from added where voided_at is null and amount <> 0;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.adjustment_charge REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION journal_adjustments();
