-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122000000-create-record.js
-- migrations/20261126110100-chain-audit.js

CREATE OR REPLACE FUNCTION public.audit_records()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    begin
      if tg_op = 'INSERT' then
        insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, after)
        select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), ''), 'record', id, 'create', jsonb_build_object('id', new_rows.id, 'record_type_id', new_rows.record_type_id,
  'data', new_rows.data, 'created_at', new_rows.created_at, 'updated_at', new_rows.updated_at) from new_rows;
      elsif tg_op = 'DELETE' then
        insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, before)
        select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), ''), 'record', id, 'delete', jsonb_build_object('id', old_rows.id, 'record_type_id', old_rows.record_type_id,
  'data', old_rows.data, 'created_at', old_rows.created_at, 'updated_at', old_rows.updated_at) from old_rows;
      else
        insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action, before, after)
        select is_now.tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), ''), 'record', is_now.id, 'update',
          jsonb_build_object('id', was.id, 'record_type_id', was.record_type_id,
  'data', was.data, 'created_at', was.created_at, 'updated_at', was.updated_at), jsonb_build_object('id', is_now.id, 'record_type_id', is_now.record_type_id,
  'data', is_now.data, 'created_at', is_now.created_at, 'updated_at', is_now.updated_at)
        from new_rows as is_now join old_rows as was
          on was.tenant_id = is_now.tenant_id and was.id = is_now.id
        -- A change of the type moves keys; the record itself stays as it was.
        where was.data <> is_now.data;
      end if;
      return null;
    end $function$;

CREATE TRIGGER audit_deleted AFTER DELETE ON public.record REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_records();

CREATE TRIGGER audit_inserted AFTER INSERT ON public.record REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_records();

CREATE TRIGGER audit_updated AFTER UPDATE ON public.record REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_records();
