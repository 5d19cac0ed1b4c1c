-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20270110000000-make-keys-of-tenants.js

CREATE OR REPLACE FUNCTION public.revoke_access_key(key_id text, revoker text, request_id text, caller_request_id text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
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
    end $function$;
