/** Reads the rows of before without a lock that others wait for. */
export async function up(knex) {
  await knex.raw(`
    alter table usage_event validate constraint usage_event_status;
    alter table usage_day validate constraint usage_day_kind;
  `);
}

export async function down() {
  // What is valid stays so.
}
