/** How the counter of a metered attribute takes up usage (docs/decisions/0397). */
export async function up(knex) {
  await knex.raw(`
    alter table attribute add column aggregation text not null default 'SUM';
  `);
}

export async function down(knex) {
  await knex.raw('alter table attribute drop column aggregation');
}
