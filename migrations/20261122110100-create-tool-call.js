/** What MCP clients called for a tenant: a row before each call, completed after it, both audited. */
export async function up(knex) {
  await knex.raw(`
    create table tool_call (
      id uuid primary key,
      tenant_id text collate "C" not null,
      tool text not null,
      arguments jsonb not null,
      -- the OAuth client that speaks for the actor; null where a user's own key or token was sent
      client_id uuid,
      status text not null,
      error_code text,
      started_at timestamptz not null,
      ended_at timestamptz,
      constraint tool_call_status check (status in ('Started', 'Completed', 'Failed'))
    );
    create index tool_call_tenant on tool_call (tenant_id, started_at);
    select protect_tenant_rows('tool_call'), audit_table('tool_call');
  `);
}

export async function down(knex) {
  await knex.raw('drop table tool_call');
}
