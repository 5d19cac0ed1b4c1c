/** Workflows that tenants define, their versions, and secrets that they use (docs/decisions/0410). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_definition (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      -- The version that executions begin with.
      version integer not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint workflow_definition_pkey primary key (tenant_id, id)
    );
    create unique index workflow_definition_name
      on workflow_definition (tenant_id, name) where deleted_at is null;
    select protect_tenant_rows('workflow_definition'), audit_table('workflow_definition');

    create table workflow_version (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      definition_id uuid not null,
      version integer not null,
      -- JSON as it was sent.
      definition text not null,
      hash text not null,
      published_by text not null,
      -- What executions may do at most.
      roles text[] not null,
      created_at timestamptz not null default now(),
      constraint workflow_version_pkey primary key (tenant_id, id),
      constraint workflow_version_number unique (tenant_id, definition_id, version),
      constraint workflow_version_definition foreign key (tenant_id, definition_id)
        references workflow_definition (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_version'), audit_table('workflow_version');

    create table workflow_secret (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      sealed text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint workflow_secret_pkey primary key (tenant_id, id),
      constraint workflow_secret_name unique (tenant_id, name)
    );
    select protect_tenant_rows('workflow_secret');
  `);
}

export async function down(knex) {
  await knex.raw('drop table workflow_secret, workflow_version, workflow_definition');
}
