-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141300-journal-items.js
-- migrations/20261215000000-look-up-by-key-in-batches.js

CREATE OR REPLACE FUNCTION public.journal_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
  begin
    perform journal_invoices(tenant_id, ids, false) from (select item.tenant_id, array_agg(item.invoice_id) as ids
       from (select distinct tenant_id, invoice_id from added) as item 
  cross join lateral (
    select invoice_status from (
      select * from invoice as own
      where own.tenant_id = item.tenant_id and own.id >= item.invoice_id
      order by own.id limit 1
    ) as first where first.id = item.invoice_id
  ) as invoice
       where invoice.invoice_status = 'Posted' group by 1) as posted;
    return null;
  end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.invoice_item REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION journal_items();
