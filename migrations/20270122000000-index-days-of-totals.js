export const config = { transaction: false };

/** Totals stand about as they were made, day after day: this one has a line for many pages of them. */
export async function up(knex) {
  // An interrupted one is left invalid, and the migration runs again.
  await knex.raw('drop index concurrently if exists usage_total_start');
  await knex.raw(`create index concurrently usage_total_start on usage_total
    using brin (start_at) with (pages_per_range = 32, autosummarize = on)`);
}

export async function down(knex) {
  await knex.raw('drop index concurrently if exists usage_total_start');
}
