/** What the planner knows of the tables in partitions: their parts have it, they themselves have not. */
export async function up(knex) {
  await knex.raw('analyze usage_event');
  await knex.raw('analyze rated_transaction');
}

export async function down(knex) {
  await knex.raw('select 1');
}
