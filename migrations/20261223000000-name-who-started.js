/** Who started the execution that causes another one: an approval of that one may be closed to them. */
export async function up(knex) {
  await knex.raw('alter table workflow_start add column starter text');
}

export async function down(knex) {
  await knex.raw('alter table workflow_start drop column starter');
}
