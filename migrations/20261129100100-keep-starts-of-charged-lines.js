/**
 * The first day of the line when it was charged, so that a run knows where it was moved back since
 * (docs/decisions/0274). Null: it had none, or was charged before this was kept.
 */
export async function up(knex) {
  await knex.raw('alter table recurring_charge add column line_start date;');
}

export async function down(knex) {
  await knex.raw('alter table recurring_charge drop column line_start;');
}
