/**
 * What lets an item be followed: the unit of its volume, its days of the period's, what each tier priced
 * (docs/decisions/0232); and the numbers of credit notes, a series of their own (0233).
 */
export async function up(knex) {
  await knex.raw(`
    alter table invoice_item
      add column unit text,
      -- Both or none: the charged days of the days of the period.
      add column charged_days integer,
      add column period_days integer,
      add column tiers jsonb,
      add constraint invoice_item_days check ((charged_days is null) = (period_days is null));
    -- In the row of the tenant, so that processes of the former release go on numbering invoices.
    alter table invoice_counter add column next_credit_note bigint not null default 1;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table invoice_counter drop column next_credit_note;
    alter table invoice_item drop constraint invoice_item_days, drop column unit,
      drop column charged_days, drop column period_days, drop column tiers;
  `);
}
