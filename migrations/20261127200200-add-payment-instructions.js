/** How a tenant is paid, as its invoices say it, and whether they list the usage of each day. */
export async function up(knex) {
  await knex.raw(`
    alter table seller
      add column payment_text text,
      add column iban text,
      add column bic text,
      add column usage_appendix boolean not null default false;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table seller drop column payment_text, drop column iban, drop column bic,
      drop column usage_appendix;
  `);
}
