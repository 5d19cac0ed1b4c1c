-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141400-journal-voids.js

CREATE OR REPLACE FUNCTION public.journal_void()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform journal_invoices(new.tenant_id, array[new.id], true);
      return null;
    end $function$;

CREATE TRIGGER journal AFTER UPDATE ON public.invoice FOR EACH ROW WHEN (((old.invoice_status = 'Posted'::text) AND (new.invoice_status = 'Void'::text))) EXECUTE FUNCTION journal_void();
