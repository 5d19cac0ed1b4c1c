-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141700-journal-applications.js

CREATE OR REPLACE FUNCTION public.journal_application()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      one record := coalesce(new, old);
      change numeric := (case when tg_op = 'DELETE' then 0 else new.amount end)
        - (case when tg_op = 'INSERT' then 0 else old.amount end);
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select invoice.tenant_id, journal_now(invoice.tenant_id), 'application', invoice.account_id,
        invoice.currency, 'payment', one.payment_id, array['unapplied', 'receivable'],
        case when invoice.invoice_type = 'Credit Note' then array[-change, change]
          else array[change, -change] end
      from invoice
      where invoice.tenant_id = one.tenant_id and invoice.id = one.invoice_id and change <> 0;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER INSERT OR DELETE OR UPDATE ON public.payment_application FOR EACH ROW EXECUTE FUNCTION journal_application();
