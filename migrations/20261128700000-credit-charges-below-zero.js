/**
 * What an account is charged below zero is credited (docs/decisions/0271): such a paper has the
 * opposite sign of the charges of which it is made.
 */
export async function up(knex) {
  await knex.raw('alter table invoice add column is_reversed boolean not null default false');
}

export async function down(knex) {
  await knex.raw('alter table invoice drop column is_reversed');
}
