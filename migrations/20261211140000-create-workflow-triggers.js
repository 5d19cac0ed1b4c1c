/** What starts executions of tenants' workflows by itself (docs/decisions/0417). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_trigger (
      tenant_id text collate "C" not null references tenant (id),
      definition_id uuid not null,
      -- The version that executions begin with.
      version integer not null,
      -- The kind of the webhook event.
      event text not null,
      -- An expression on the event's data; null: each one counts.
      condition text,
      constraint workflow_trigger_pkey primary key (tenant_id, definition_id),
      constraint workflow_trigger_definition foreign key (tenant_id, definition_id)
        references workflow_definition (tenant_id, id) on delete cascade
    );
    select protect_tenant_rows('workflow_trigger');

    insert into workflow_trigger (tenant_id, definition_id, version, event, condition)
    select definition.tenant_id, definition.id, definition.version,
      version.definition::jsonb #>> '{schedule,on,one,with,type}',
      version.definition::jsonb #>> '{schedule,on,one,with,data}'
    from workflow_definition as definition
    join workflow_version as version on version.tenant_id = definition.tenant_id
      and version.definition_id = definition.id and version.version = definition.version
    where definition.deleted_at is null
      and version.definition::jsonb #>> '{schedule,on,one,with,type}' is not null;

    -- Executions that are to be started: written with the change that causes them.
    create table workflow_start (
      tenant_id text collate "C" not null references tenant (id),
      -- Of the execution.
      id uuid not null,
      seq bigint generated always as identity,
      definition_id uuid not null,
      version integer not null,
      -- What causes it: a kind of event, or an alert.
      cause text not null,
      event_id uuid not null,
      condition text,
      -- JSON: what the event says.
      body text not null,
      -- How many executions caused each other to come here.
      depth integer not null,
      created_at timestamptz not null,
      -- When a process began to start it, the last time.
      claimed_at timestamptz,
      constraint workflow_start_pkey primary key (tenant_id, id),
      constraint workflow_start_once unique (tenant_id, event_id, definition_id)
    );
    create index workflow_start_waiting on workflow_start (tenant_id, seq) where claimed_at is null;
    create index workflow_start_claimed on workflow_start (claimed_at) where claimed_at is not null;
    select protect_platform_rows('workflow_start');

    alter table alert add column workflow_id uuid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table alert drop column workflow_id;
    drop table workflow_start, workflow_trigger;
  `);
}
