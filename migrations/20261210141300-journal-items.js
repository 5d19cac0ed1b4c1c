/** An invoice is booked with its items, which follow it in its transaction. */
export async function up(knex) {
  await knex.raw(`
    create function journal_items() returns trigger language plpgsql as $$
    begin
      perform journal_invoices(tenant_id, ids, false) from (
        select item.tenant_id, array_agg(distinct item.invoice_id) as ids
        from added as item join invoice
          on invoice.tenant_id = item.tenant_id and invoice.id = item.invoice_id
        where invoice.invoice_status = 'Posted'
        group by item.tenant_id
      ) as posted;
      return null;
    end $$;
    create trigger journal after insert on invoice_item
      referencing new table as added for each statement execute function journal_items();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal on invoice_item;
    drop function journal_items();
  `);
}
