/** As the migration before, so that each holds its lock for the time of one table. */
export async function up(knex) {
  await knex.raw('alter table rated_transaction validate constraint rated_transaction_bound');
}

export async function down(knex) {
  await knex.raw('select 1');
}
