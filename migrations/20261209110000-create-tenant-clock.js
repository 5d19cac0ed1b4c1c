/**
 * The time of sandbox tenants (docs/decisions/0381): a tenant with a row here is a sandbox, whose time
 * stands still until it is moved. What fell due until `done_until` has been done.
 */
export async function up(knex) {
  await knex.raw(`
    create table tenant_clock (
      tenant_id text collate "C" not null references tenant (id),
      stands_at timestamptz not null,
      done_until timestamptz not null,
      constraint tenant_clock_pkey primary key (tenant_id),
      constraint tenant_clock_done check (done_until <= stands_at)
    ) with (fillfactor = 50);
    select protect_platform_rows('tenant_clock');
  `);
}

export async function down(knex) {
  await knex.raw('drop table tenant_clock');
}
