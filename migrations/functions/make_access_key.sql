-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20270110000000-make-keys-of-tenants.js

CREATE OR REPLACE FUNCTION public.make_access_key(key_id text, key_name text, key_org text, key_roles text[], key_hash bytea, key_ends timestamp with time zone, made_at timestamp with time zone, maker text, request_id text, caller_request_id text, most integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
    end $function$;
