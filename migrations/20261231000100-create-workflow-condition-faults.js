/** The last event for which a condition of a tenant's workflow could not be evaluated (docs/decisions/0459). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_condition_fault (
      tenant_id text collate "C" not null references tenant (id),
      definition_id uuid not null,
      version integer not null,
      -- The kind of the event.
      event text not null,
      -- The execution that would have heard it; null: it would have started one.
      execution_id uuid,
      reason text not null,
      at timestamptz not null,
      constraint workflow_condition_fault_pkey primary key (tenant_id, definition_id),
      constraint workflow_condition_fault_definition foreign key (tenant_id, definition_id)
        references workflow_definition (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_condition_fault');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_condition_fault');
}
