/**
 * Stretches of the usage log that can never be rated, since the log has lost them, or that an operator
 * has passed over (docs/decisions/0187-ranges-that-can-never-be-rated.md).
 */
export async function up(knex) {
  await knex.raw(`
    create table lost_usage_range (
      tenant_id text collate "C" not null references tenant (id),
      partition integer not null,
      -- Half-open: from first_offset up to end_offset.
      first_offset bigint not null,
      end_offset bigint not null,
      reason text not null,
      found_at timestamptz not null,
      constraint lost_usage_range_pkey primary key (tenant_id, partition, first_offset),
      constraint lost_usage_range_is_not_empty check (first_offset < end_offset)
    );
    select protect_platform_rows('lost_usage_range');
  `);
}

export async function down(knex) {
  await knex.raw('drop table lost_usage_range');
}
