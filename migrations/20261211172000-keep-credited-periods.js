/**
 * What credit notes had given back of a minimum or a commitment that is lowered later stands beside what
 * they had given back of usage (docs/decisions/0429): it is of an adjustment's period, and may be of no
 * service.
 */
export async function up(knex) {
  await knex.raw(`
    alter table billed_difference
      alter column service_id drop not null,
      add column adjustment_id uuid,
      add column adjusted_from date,
      add constraint billed_difference_of_one check
        ((adjustment_id is null) = (adjusted_from is null)
          and (adjustment_id is null) <> (service_id is null)) not valid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    delete from billed_difference where service_id is null;
    alter table billed_difference
      drop constraint billed_difference_of_one,
      drop column adjustment_id,
      drop column adjusted_from,
      alter column service_id set not null;
  `);
}
