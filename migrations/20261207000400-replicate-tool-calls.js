/** See the migration before: the index that identifies calls of tools where they are copied. */
export async function up(knex) {
  await knex.raw('alter table tool_call replica identity using index tool_call_identity');
}

export async function down(knex) {
  await knex.raw('alter table tool_call replica identity default');
}
