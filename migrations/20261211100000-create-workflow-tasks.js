/** What executions of tenants' workflows have done, task by task (docs/decisions/0413). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_task (
      tenant_id text collate "C" not null references tenant (id),
      execution_id uuid not null,
      -- Which run of a task of the execution it is, from 1.
      seq integer not null,
      path text not null,
      name text not null,
      kind text not null,
      status text not null,
      attempts integer not null,
      -- JSON, cut where it is long.
      input text,
      output text,
      error text,
      started_at timestamptz not null,
      ended_at timestamptz,
      undone_at timestamptz,
      constraint workflow_task_pkey primary key (tenant_id, execution_id, seq),
      constraint workflow_task_execution foreign key (tenant_id, execution_id)
        references execution (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_task');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_task');
}
