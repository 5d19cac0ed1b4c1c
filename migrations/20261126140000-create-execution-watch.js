/**
 * Until when the workers have looked for executions that Temporal ended: a look begins where the last
 * one that succeeded ended, however long nobody could look (docs/decisions/0191).
 */
export async function up(knex) {
  await knex.raw(`
    create table execution_watch (
      task_queue text not null,
      looked_until timestamptz not null,
      constraint execution_watch_pkey primary key (task_queue)
    );
  `);
}

export async function down(knex) {
  await knex.raw('drop table execution_watch;');
}
