/** When tenants' workflows start by themselves (docs/decisions/0423). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_schedule (
      tenant_id text collate "C" not null references tenant (id),
      definition_id uuid not null,
      -- The version that executions begin with.
      version integer not null,
      cron text not null,
      time_zone text not null,
      -- When it falls due next, by the time of the tenant.
      next_at timestamptz not null,
      constraint workflow_schedule_pkey primary key (tenant_id, definition_id),
      constraint workflow_schedule_definition foreign key (tenant_id, definition_id)
        references workflow_definition (tenant_id, id) on delete cascade
    );
    create index workflow_schedule_next on workflow_schedule (next_at);
    select protect_platform_rows('workflow_schedule');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_schedule');
}
