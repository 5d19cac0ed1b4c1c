/**
 * The values that UNIQUE counters have counted (docs/decisions/0398): a row is a value in a period of a
 * counter, named by a hash of both.
 */
export async function up(knex) {
  await knex.raw(`
    alter table attribute add column unique_dimension text;

    create table usage_counter_value (
      tenant_id text collate "C" not null,
      counter_id uuid not null,
      value_id uuid not null,
      constraint usage_counter_value_pkey primary key (tenant_id, counter_id, value_id)
    );
    select protect_tenant_rows('usage_counter_value');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table usage_counter_value;
    alter table attribute drop column unique_dimension;
  `);
}
