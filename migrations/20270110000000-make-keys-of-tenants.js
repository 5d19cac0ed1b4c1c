/**
 * Access keys that tenants make and revoke themselves (docs/decisions/0511). Running processes only
 * read the table: they make a key by these functions, each with its entry in the audit.
 */
export async function up(knex) {
  await knex.raw(`
    -- who made it, as the audit names them; null: before that was kept
    alter table access_key add column made_by text;

    create function make_access_key(
      key_id text, key_name text, key_org text, key_roles text[], key_hash bytea,
      key_ends timestamptz, made_at timestamptz, maker text, request_id text,
      caller_request_id text, most integer
    ) returns boolean
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      of_tenant text := coalesce(current_setting('app.tenant_id', true), '');
    begin
      if of_tenant in ('', '*') then
        raise insufficient_privilege using message = 'a session makes keys of its own tenant';
      end if;
      perform pg_advisory_xact_lock(hashtextextended('access_key/' || of_tenant, 0));
      if most <= (
        select count(*) from access_key where tenant_id = of_tenant
          and revoked_at is null and (expires_at is null or expires_at > made_at)
      ) then
        return false;
      end if;
      -- What is over stays to be looked at, the latest of it; the audit has all.
      delete from access_key where id in (
        select over.id from access_key as over where over.tenant_id = of_tenant
          and (over.revoked_at is not null or over.expires_at <= made_at)
        order by over.created_at desc, over.id offset 9 * most
      );
      insert into access_key
        (id, tenant_id, name, org_id, roles, secret_hash, created_at, expires_at, made_by)
      values (key_id, of_tenant, key_name, key_org, key_roles, key_hash, made_at, key_ends, maker);
      perform record_security_event(of_tenant, maker, request_id, caller_request_id, 'access_key',
        key_id, 'create', jsonb_build_object('roles', key_roles, 'orgId', key_org,
          'name', key_name, 'expiresAt', key_ends));
      return true;
    end $$;

    create function revoke_access_key(
      key_id text, revoker text, request_id text, caller_request_id text
    ) returns boolean
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      of_tenant text := coalesce(current_setting('app.tenant_id', true), '');
    begin
      if of_tenant in ('', '*') then
        raise insufficient_privilege using message = 'a session revokes keys of its own tenant';
      end if;
      update access_key set revoked_at = now()
      where id = key_id and tenant_id = of_tenant and revoked_at is null;
      if found then
        perform record_security_event(of_tenant, revoker, request_id, caller_request_id,
          'access_key', key_id, 'revoke', null);
      end if;
      return exists (select from access_key where id = key_id and tenant_id = of_tenant);
    end $$;

    revoke all on function make_access_key(text, text, text, text[], bytea, timestamptz,
      timestamptz, text, text, text, integer) from public;
    revoke all on function revoke_access_key(text, text, text, text) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function make_access_key(text, text, text, text[], bytea, timestamptz,
          timestamptz, text, text, text, integer) to durabill_app;
        grant execute on function revoke_access_key(text, text, text, text) to durabill_app;
      end if;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function make_access_key(text, text, text, text[], bytea, timestamptz,
      timestamptz, text, text, text, integer);
    drop function revoke_access_key(text, text, text, text);
    alter table access_key drop column made_by;
  `);
}
