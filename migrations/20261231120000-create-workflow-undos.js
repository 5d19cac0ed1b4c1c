/** What takes tasks of tenants' workflows back, where it is more than an execution carries on (docs/decisions/0491). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_undo (
      tenant_id text collate "C" not null references tenant (id),
      execution_id uuid not null,
      -- Which block of calls of the execution it is, from 1: a later one is called before it.
      block integer not null,
      -- JSON: the calls in the order in which what they take back was done.
      calls text not null,
      constraint workflow_undo_pkey primary key (tenant_id, execution_id, block),
      constraint workflow_undo_execution foreign key (tenant_id, execution_id)
        references execution (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_undo');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_undo');
}
