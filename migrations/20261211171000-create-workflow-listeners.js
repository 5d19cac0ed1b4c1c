/** Tasks of tenants' workflows that wait for events, and events that nobody has heard yet (docs/decisions/0402). */
export async function up(knex) {
  await knex.raw(`
    create table workflow_event (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      seq bigint generated always as identity,
      event text not null,
      -- JSON: what webhooks are sent.
      body text not null,
      created_at timestamptz not null,
      constraint workflow_event_pkey primary key (tenant_id, id)
    );
    create index workflow_event_order on workflow_event (tenant_id, seq);
    select protect_platform_rows('workflow_event');

    create table workflow_listener (
      tenant_id text collate "C" not null references tenant (id),
      execution_id uuid not null,
      -- Which run of a task of the execution listens.
      task_seq integer not null,
      -- Of the execution in Temporal.
      workflow_id text not null,
      -- JSON: the kinds, each with its condition.
      filters text not null,
      -- JSON: what the conditions read beside what an event says.
      variables text not null,
      -- The number of the last event that it does not hear.
      opened_after bigint not null,
      created_at timestamptz not null,
      heard_event text,
      heard_body text,
      heard_at timestamptz,
      -- When the execution was told, the last time.
      woken_at timestamptz,
      -- When the execution has read it.
      taken_at timestamptz,
      constraint workflow_listener_pkey primary key (tenant_id, execution_id, task_seq)
    );
    create index workflow_listener_heard on workflow_listener (woken_at)
      where heard_at is not null and taken_at is null;
    select protect_platform_rows('workflow_listener');

    -- The kinds of events that listeners wait for, while they do.
    create table workflow_ear (
      tenant_id text collate "C" not null references tenant (id),
      event text not null,
      execution_id uuid not null,
      task_seq integer not null,
      constraint workflow_ear_pkey primary key (tenant_id, event, execution_id, task_seq),
      constraint workflow_ear_listener foreign key (tenant_id, execution_id, task_seq)
        references workflow_listener (tenant_id, execution_id, task_seq) on delete cascade
    );
    create index workflow_ear_of on workflow_ear (tenant_id, execution_id, task_seq);
    select protect_platform_rows('workflow_ear');

    -- When a task has emitted its event: it does so once.
    alter table workflow_task add column emitted_at timestamptz;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table workflow_task drop column emitted_at;
    drop table workflow_ear, workflow_listener, workflow_event;
  `);
}
