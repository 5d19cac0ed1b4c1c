/** Credit notes against invoices (docs/decisions/0374). */
export async function up(knex) {
  await knex.raw(`
    alter table invoice
      -- The invoice that a credit note is against; null of what billing runs make.
      add column credited_invoice_id uuid,
      add column credit_reason text,
      -- What notes that are not void have taken off the total.
      add column credited_amount numeric not null default 0,
      -- A process of the version before does not know what was credited: it must not owe it again.
      add constraint invoice_credited check (
        credited_amount = 0 or balance <= amount + tax_amount - credited_amount
      ) not valid;
    alter table invoice_item
      add column credited_item_id uuid,
      -- The same of the item, without tax and of the tax.
      add column credited_amount numeric not null default 0,
      add column credited_tax numeric not null default 0;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table invoice_item drop column credited_item_id, drop column credited_amount,
      drop column credited_tax;
    alter table invoice drop constraint invoice_credited, drop column credited_invoice_id,
      drop column credit_reason, drop column credited_amount;
  `);
}
