/** Which run of a task of which workflow an approval is of: whoever decides it wakes that one. */
export async function up(knex) {
  await knex.raw(`
    alter table approval add column workflow_id text, add column seq integer;
  `);
}

export async function down(knex) {
  await knex.raw('alter table approval drop column seq, drop column workflow_id');
}
