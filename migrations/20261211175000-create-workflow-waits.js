/** Which executions of tenants' workflows wait for the clock of a sandbox (docs/decisions/0348). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_wait (
      tenant_id text collate "C" not null references tenant (id),
      execution_id uuid not null,
      -- The time of the tenant until which it does nothing.
      until timestamptz not null,
      constraint workflow_wait_pkey primary key (tenant_id, execution_id),
      constraint workflow_wait_execution foreign key (tenant_id, execution_id)
        references execution (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_wait');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_wait');
}
