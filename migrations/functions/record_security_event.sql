-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261126110000-record-security-events.js
-- migrations/20261207000000-create-tenant-cell.js
-- migrations/20261207000200-create-tenant-fence.js

CREATE OR REPLACE FUNCTION public.record_security_event(of_tenant text, actor text, request_id text, caller_request_id text, entity text, entity_key text, action text, details jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  declare
    session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
    chain text := coalesce((select id from public.tenant where id = of_tenant), '*');
  begin
    if session_tenant not in (chain, '*') then
      raise insufficient_privilege using message = 'a session records events of its own tenant';
    end if;
    -- Row-level security binds an owner that is no superuser, too.
    perform set_config('app.tenant_id', chain, true);
    if exists (select from public.tenant_cell where tenant_id = chain) or exists (select from public.tenant_fence where tenant_id = chain) then
      insert into public.relayed_event (tenant_id, actor, request_id, caller_request_id, entity,
        entity_key, action, details)
      values (chain, actor, request_id, caller_request_id, entity, entity_key, action, details);
      perform set_config('app.tenant_id', session_tenant, true);
      return;
    end if;
    insert into public.audit (tenant_id, at, actor, request_id, caller_request_id,
  entity, entity_id, entity_key, action, after)
    values (chain, clock_timestamp(), actor, request_id, caller_request_id, entity, case when entity_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then entity_key::uuid end,
      entity_key, action, details);
    perform set_config('app.tenant_id', session_tenant, true);
  end $function$;
