/**
 * Where a counter stands before a charge that a correction has left as it is, while it has moved the
 * counter (docs/decisions/0355). The charge is never changed; the latest correction says it.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_charge_place (
      tenant_id text collate "C" not null,
      charge_id uuid not null,
      counter_id uuid not null,
      correction_id uuid not null,
      counter_before numeric not null,
      constraint usage_charge_place_pkey
        primary key (tenant_id, charge_id, counter_id, correction_id)
    );
    select protect_tenant_rows('usage_charge_place');
  `);
}

export async function down(knex) {
  await knex.raw('drop table usage_charge_place');
}
