/** Approvals that workflows of tenants wait for, and what was decided (docs/decisions/0420). */
export async function up(knex) {
  await knex.raw(`
    create table approval (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      definition_id uuid not null,
      workflow_name text not null,
      execution_id uuid not null,
      -- JSON pointer of the task in its definition.
      task text not null,
      title text not null,
      details jsonb,
      -- One of these is needed, exactly; null: OPERATOR or ADMIN.
      roles text[],
      quorum integer not null,
      not_starter boolean not null,
      started_by text not null,
      on_timeout text not null,
      due_at timestamptz not null,
      status text not null default 'pending',
      created_at timestamptz not null default now(),
      decided_at timestamptz,
      constraint approval_pkey primary key (tenant_id, id)
    );
    create index approval_status on approval (tenant_id, status, created_at, id);
    create index approval_execution on approval (tenant_id, execution_id);
    select protect_tenant_rows('approval'), audit_table('approval');

    -- Of a workflow's approval, or of a record by the record's id.
    create table approval_decision (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      approval_id uuid not null,
      decision text not null,
      reason text,
      decided_by text not null,
      decided_at timestamptz not null,
      constraint approval_decision_pkey primary key (tenant_id, id)
    );
    create index approval_decision_approval
      on approval_decision (tenant_id, approval_id, decided_at);
    select protect_tenant_rows('approval_decision'), audit_table('approval_decision');
  `);
}

export async function down(knex) {
  await knex.raw('drop table approval_decision, approval');
}
