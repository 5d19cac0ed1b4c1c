/**
 * What a log of Kafka asks for: its offsets may have gaps, and it is another log than that of the
 * tables, so that a database must know which one its consumers have read (docs/decisions/0130, 0131).
 */
export async function up(knex) {
  await knex.raw(`
    -- Offsets before next_offset that held no event.
    alter table usage_consumer add column skipped bigint not null default 0;

    -- One row: the log whose offsets are in usage_consumer, 'postgres' or 'kafka:<cluster>/<prefix>'.
    create table usage_log (
      is_only boolean primary key default true constraint usage_log_is_only check (is_only),
      name text not null
    );
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table usage_log;
    alter table usage_consumer drop column skipped;
  `);
}
