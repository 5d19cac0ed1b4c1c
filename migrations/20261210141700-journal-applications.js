/** What of payments pays invoices; of a payout, credit notes. */
export async function up(knex) {
  await knex.raw(`
    create function journal_application() returns trigger language plpgsql as $$
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
    end $$;
    create trigger journal after insert or update or delete on payment_application
      for each row execute function journal_application();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal on payment_application;
    drop function journal_application();
  `);
}
