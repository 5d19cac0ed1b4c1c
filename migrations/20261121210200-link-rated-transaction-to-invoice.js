/**
 * Which invoice and item has a rated transaction (docs/decisions/0072). No foreign keys: like
 * those to accounts, they would cost more in a billing run than they could catch.
 */
export async function up(knex) {
  await knex.raw(`
    alter table rated_transaction
      add column invoice_id uuid,
      -- Null where its dimensions are on several items.
      add column invoice_item_id uuid,
      add constraint rated_transaction_billed check (
        billed = (invoice_id is not null) and (invoice_item_id is null or billed)
      );
    -- Costs rating nothing: a transaction comes into it when it is billed.
    create index rated_transaction_invoice
      on rated_transaction (tenant_id, invoice_id, invoice_item_id) where invoice_id is not null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table rated_transaction
      drop constraint rated_transaction_billed,
      drop column invoice_item_id,
      drop column invoice_id
  `);
}
