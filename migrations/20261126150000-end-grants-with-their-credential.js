/**
 * What ends a credential early, and what ends with it: tokens that were revoked by their id, access
 * keys with an expiry, tenants that are suspended. A grant of an OAuth client names the credential
 * that its user signed in with, and lives no longer than that.
 *
 * The last use of an access key stands in a table of its own, so that the login of the running
 * processes needs no right to change keys.
 */
export async function up(knex) {
  await knex.raw(`
    alter table tenant add column suspended_at timestamptz;
    alter table access_key add column expires_at timestamptz;

    create table access_key_use (
      access_key_id text primary key references access_key (id) on delete cascade,
      tenant_id text collate "C" not null,
      used_at timestamptz not null
    );
    select protect_platform_rows('access_key_use');

    create table token_revocation (
      -- '*': a token of any tenant, which an operator revoked by its id alone
      tenant_id text collate "C" not null,
      jti text not null,
      revoked_at timestamptz not null,
      revoked_by text not null,
      -- no token lives longer than that
      expires_at timestamptz not null,
      primary key (tenant_id, jti)
    );
    create index token_revocation_expires on token_revocation (expires_at);
    create index token_revocation_listed on token_revocation (tenant_id, revoked_at);
    select protect_platform_rows('token_revocation');

    alter table oauth_grant
      add column access_key_id text,
      add column token_jti text,
      add column token_kid text,
      -- the end of the credential; null: it has none
      add column ends_at timestamptz,
      add column revoked_reason text;
    create index oauth_grant_tenant on oauth_grant (tenant_id, created_at, id);

    -- Row-level security binds the owner, too.
    select set_config('app.tenant_id', '*', true);
    update oauth_grant set access_key_id = substr(subject, 5)
    where subject like 'key:%'
      and exists (select 1 from access_key where access_key.id = substr(oauth_grant.subject, 5));
    -- Of a token that made a grant nobody noted the end: its client asks its user again.
    update oauth_grant set revoked_at = now(), revoked_reason = 'made by a token of unknown end'
    where access_key_id is null and revoked_at is null;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop index oauth_grant_tenant;
    alter table oauth_grant
      drop column access_key_id, drop column token_jti, drop column token_kid,
      drop column ends_at, drop column revoked_reason;
    drop table token_revocation, access_key_use;
    alter table access_key drop column expires_at;
    alter table tenant drop column suspended_at;
  `);
}
