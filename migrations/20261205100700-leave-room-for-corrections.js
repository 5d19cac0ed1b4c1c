/**
 * A charge may take back another, and belong to a correction. Null costs a row nothing: the map of its
 * null columns has room for both.
 */
export async function up(knex) {
  await knex.raw(`
    alter table rated_transaction
      -- The charge whose amount and quantity it negates.
      add column reverses uuid,
      add column correction_id uuid;
  `);
}

export async function down(knex) {
  await knex.raw('alter table rated_transaction drop column reverses, drop column correction_id');
}
