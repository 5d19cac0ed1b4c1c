-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141000-create-journal.js

CREATE OR REPLACE FUNCTION public.journal_invoices(tenant text, ids uuid[], is_void boolean)
 RETURNS void
 LANGUAGE sql
AS $function$
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), case when is_void then 'void'
          when invoice_type = 'Credit Note' then 'credit-note' else 'invoice' end,
        account_id, currency, 'invoice', id, posted.accounts, posted.amounts
      from (
        select invoice.id, invoice.account_id, invoice.currency, invoice.invoice_type,
          invoice.credited_invoice_id is not null as is_note,
          case when (invoice.invoice_type = 'Credit Note') <> is_void then -1 else 1 end as sign,
          sum(item.amount) as net, sum(item.tax) as tax,
          sum(coalesce(item.exact_amount, item.amount)) as exact
        from invoice join invoice_item as item
          on item.tenant_id = invoice.tenant_id and item.invoice_id = invoice.id
        where invoice.tenant_id = tenant and invoice.id = any(ids)
        group by invoice.tenant_id, invoice.id
      ) as billed cross join lateral (
        select array_agg(account order by n) as accounts, array_agg(amount order by n) as amounts
        from (values
          (1, 'receivable', sign * (net + tax)),
          (2, 'tax', -sign * tax),
          (3, 'credited', case when is_note then -sign * net end),
          (4, 'unbilled', case when not is_note then -sign * exact end),
          (5, 'rounding', case when not is_note then sign * (exact - net) end)
        ) as posting (n, account, amount) where amount <> 0
      ) as posted where posted.accounts is not null
    $function$;
