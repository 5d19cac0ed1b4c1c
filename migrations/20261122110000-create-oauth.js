/**
 * OAuth of MCP clients: what is configured, registered, asked for and granted.
 *
 * Clients and pending flows belong to no tenant: whose data it is about is known when a user
 * consents. Grants, codes and refresh tokens belong to the tenant of that user. Secrets are stored
 * as SHA-256 only.
 */
export async function up(knex) {
  await knex.raw(`
    create table mcp_client (
      id uuid primary key,
      name text not null,
      auth_type text not null,
      created_at timestamptz not null,
      constraint mcp_client_name unique (name),
      constraint mcp_client_auth_type
        check (auth_type in ('none', 'headers', 'oauth', 'per_user_oauth'))
    );

    create table oauth_client (
      id uuid primary key,
      name text,
      redirect_uris text[] not null,
      grant_types text[] not null,
      may_refresh boolean not null,
      -- null: it named none, and may ask for any
      scopes text[],
      -- keyed hash of the address that it was registered from
      registered_from bytea not null,
      created_at timestamptz not null,
      used_at timestamptz
    );
    create index oauth_client_registered_from on oauth_client (registered_from, created_at);
    create index oauth_client_unused on oauth_client (created_at) where used_at is null;

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

    create table oauth_grant (
      id uuid primary key,
      tenant_id text collate "C" not null,
      client_id uuid not null references oauth_client (id) on delete cascade,
      subject text not null,
      org_id text,
      roles text[] not null,
      scopes text[] not null,
      resource text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz
    );
    create index oauth_grant_client on oauth_grant (client_id);
    create index oauth_grant_expires on oauth_grant (expires_at);
    select protect_platform_rows('oauth_grant');

    create table oauth_code (
      hash bytea primary key,
      tenant_id text collate "C" not null,
      grant_id uuid not null references oauth_grant (id) on delete cascade,
      redirect_uri text not null,
      code_challenge text not null,
      expires_at timestamptz not null,
      consumed_at timestamptz
    );
    create index oauth_code_grant on oauth_code (grant_id);
    select protect_platform_rows('oauth_code');

    create table oauth_refresh_token (
      hash bytea primary key,
      tenant_id text collate "C" not null,
      grant_id uuid not null references oauth_grant (id) on delete cascade,
      expires_at timestamptz not null,
      consumed_at timestamptz
    );
    create index oauth_refresh_token_grant on oauth_refresh_token (grant_id);
    select protect_platform_rows('oauth_refresh_token');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table oauth_refresh_token, oauth_code, oauth_grant, oauth_flow, oauth_client, mcp_client;
  `);
}
