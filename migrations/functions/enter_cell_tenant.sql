-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261207000200-create-tenant-fence.js

CREATE OR REPLACE FUNCTION public.enter_cell_tenant(tenant text, actor text, request text, caller_request text, app_role text, statement_ms text, lock_ms text, idle_ms text, transaction_ms text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
      -- An assignment costs half of a query by 'perform', and this runs with every statement.
      entered text := set_config('app.tenant_id', tenant, true)
        || set_config('app.actor', actor, true)
        || set_config('app.request_id', request, true)
        || set_config('app.caller_request_id', caller_request, true)
        || set_config('statement_timeout', statement_ms, true)
        || set_config('lock_timeout', lock_ms, true)
        || set_config('idle_in_transaction_session_timeout', idle_ms, true);
    begin
      if transaction_ms is not null then
        entered := set_config('transaction_timeout', transaction_ms, true);
      end if;
      entered := pg_advisory_xact_lock_shared(tenant_fence_key(tenant))::text;
      -- A statement of its own, whose snapshot is taken when the lock is there.
      if tenant <> '*' and exists (select from tenant_fence where tenant_id = tenant) then
        raise exception using errcode = 'CE001',
          message = format('the tenant %L is being moved to another cell', tenant);
      end if;
      if app_role is not null then entered := set_config('role', app_role, true); end if;
    end $function$;
