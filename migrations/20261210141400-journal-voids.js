/** A void takes back what was booked of an invoice. */
export async function up(knex) {
  await knex.raw(`
    create function journal_void() returns trigger language plpgsql as $$
    begin
      perform journal_invoices(new.tenant_id, array[new.id], true);
      return null;
    end $$;
    create trigger journal after update on invoice for each row
      when (old.invoice_status = 'Posted' and new.invoice_status = 'Void')
      execute function journal_void();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal on invoice;
    drop function journal_void();
  `);
}
