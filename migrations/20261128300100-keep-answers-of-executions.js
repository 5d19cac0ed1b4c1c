/**
 * What callers were told when an execution ended, as it was written: jsonb sorts the keys of objects,
 * and a request that is repeated gets the very answer of the first (docs/decisions/0241). A column of
 * its own, since processes of the release before still write and read the others.
 */
export async function up(knex) {
  await knex.raw('alter table execution add column answer json;');
}

export async function down(knex) {
  await knex.raw('alter table execution drop column answer;');
}
