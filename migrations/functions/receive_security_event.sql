-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207000000-create-tenant-cell.js
-- migrations/20261207000200-create-tenant-fence.js

CREATE OR REPLACE FUNCTION public.receive_security_event(event uuid, at timestamp with time zone, of_tenant text, actor text, request_id text, caller_request_id text, entity text, entity_key text, action text, details jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  declare
    session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
  begin
    if session_tenant <> '*' then
      raise insufficient_privilege using message = 'only the platform passes events on';
    end if;
    if exists (select from public.tenant_fence where tenant_id = of_tenant) then
      raise exception using errcode = 'CE001', message = 'the tenant is being moved';
    end if;
    insert into public.received_event (id) values (event) on conflict do nothing;
    if not found then return; end if;
    perform set_config('app.tenant_id', of_tenant, true);
    insert into public.audit (tenant_id, at, actor, request_id, caller_request_id,
  entity, entity_id, entity_key, action, after)
    values (of_tenant, at, actor, request_id, caller_request_id, entity, case when entity_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then entity_key::uuid end, entity_key,
      action, details);
    perform set_config('app.tenant_id', session_tenant, true);
  end $function$;
