/**
 * Archives of usage (docs/decisions/0345): which files have the facts of a month, with what they have
 * been found to hold when they were read back.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_archive (
      tenant_id text collate "C" not null,
      -- The first day of the month of receipt, in UTC.
      month date not null,
      kind text collate "C" not null,
      -- The file has all archived rows of the month from behind after_id (null: from the first) to last_id.
      after_id uuid,
      first_id uuid not null,
      last_id uuid not null,
      rows integer not null,
      bytes bigint not null,
      file text not null,
      file_sha256 text not null,
      rows_sha256 text not null,
      -- Names and types, in the order in which the file has them.
      columns jsonb not null,
      checked_at timestamptz not null,
      constraint usage_archive_pkey primary key (tenant_id, month, kind, last_id),
      constraint usage_archive_kind check (kind in ('usage_event', 'rated_transaction')),
      constraint usage_archive_rows check (rows > 0)
    );
    select protect_tenant_rows('usage_archive');

    create table usage_archive_month (
      tenant_id text collate "C" not null,
      month date not null,
      -- 'writing', 'complete' when all has been checked, 'differs' when a later check found a difference.
      state text collate "C" not null,
      events bigint not null default 0,
      charges bigint not null default 0,
      bytes bigint not null default 0,
      -- The first thing that a check found.
      difference text,
      updated_at timestamptz not null,
      constraint usage_archive_month_pkey primary key (tenant_id, month),
      constraint usage_archive_month_state check (state in ('writing', 'complete', 'differs'))
    );
    select protect_platform_rows('usage_archive_month');
  `);
}

export async function down(knex) {
  await knex.raw('drop table usage_archive_month, usage_archive');
}
