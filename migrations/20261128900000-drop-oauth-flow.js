/** What is asked for at the authorization endpoint travels with the browser since 20261126150100. */
export async function up(knex) {
  await knex.raw('drop table oauth_flow');
}

export async function down(knex) {
  await knex.raw(`
    create table oauth_flow (
      id uuid primary key,
      browser_hash bytea not null,
      client_id uuid not null references oauth_client (id) on delete cascade,
      redirect_uri text not null,
      code_challenge text not null,
      scopes text[] not null,
      resource text not null,
      state text,
      expires_at timestamptz not null,
      decided_at timestamptz
    );
    create index oauth_flow_client on oauth_flow (client_id);
    create index oauth_flow_expires on oauth_flow (expires_at);
  `);
}
