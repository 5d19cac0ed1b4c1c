/**
 * Executions of flows: their steps, which are what makes a repeated step harmless, and the keys under
 * which callers repeat a request (DESIGN.md, section 3).
 */
export async function up(knex) {
  await knex.raw(`
    alter table execution
      add column request_id text,
      -- The results of the steps that were committed, by step.
      add column steps jsonb not null default '{}',
      add constraint execution_status check
        (status in ('running', 'completed', 'failed', 'canceled', 'terminated', 'timed_out'));
    create index execution_workflow on execution (tenant_id, workflow, started_at desc, id desc);
    create index execution_running on execution (tenant_id, started_at) where status = 'running';

    create table idempotency_key (
      tenant_id text collate "C" not null references tenant (id),
      key text collate "C" not null,
      -- Of the operation and its input: another request under the same key is refused.
      request_hash text not null,
      execution_id uuid not null,
      workflow_id text not null,
      created_at timestamptz not null default now(),
      constraint idempotency_key_pkey primary key (tenant_id, key)
    );
    select protect_tenant_rows('idempotency_key');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table idempotency_key;
    drop index execution_running, execution_workflow;
    alter table execution drop constraint execution_status, drop column steps, drop column request_id;
  `);
}
