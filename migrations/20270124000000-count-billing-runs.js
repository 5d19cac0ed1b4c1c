/** What lists tell of a long output, which is not read for it: of a billing run (docs/decisions/0538). */
export async function up(knex) {
  await knex.raw('alter table execution add column counts jsonb');
}

export async function down(knex) {
  await knex.raw('alter table execution drop column counts');
}
