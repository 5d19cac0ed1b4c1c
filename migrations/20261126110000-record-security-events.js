/**
 * Security events stand in the audit beside the changes of records. What they are about is often no
 * record with a UUID (an access key, a client, a sign-in of nobody), and those of no known tenant
 * stand under `*`, which no tenant can be called. An id that the caller of a request chose is kept
 * apart from ours: it is a hint, no evidence.
 */
export async function up(knex) {
  await knex.raw(`
    alter table audit
      alter column entity_id drop not null,
      add column entity_key text,
      add column caller_request_id text;

    create or replace function audit_change() returns trigger language plpgsql as $$
    declare
      was jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
      is_now jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      -- The version is raised whenever a part changes; the part has its own entry.
      if tg_op = 'UPDATE' and (was - ignored) = (is_now - ignored) then return null; end if;
      insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action,
        before, after)
      values (
        coalesce(is_now, was) ->> 'tenant_id',
        current_setting('app.actor', true),
        current_setting('app.request_id', true),
        nullif(current_setting('app.caller_request_id', true), ''),
        tg_table_name,
        (coalesce(is_now, was) ->> 'id')::uuid,
        case
          when tg_op = 'INSERT' then 'create'
          when tg_op = 'DELETE' then 'delete'
          when was ->> 'deleted_at' is null and is_now ->> 'deleted_at' is not null then 'delete'
          else 'update'
        end,
        was,
        is_now
      );
      return null;
    end $$;

    create or replace function audit_inserted() returns trigger language plpgsql as $$
    begin
      insert into audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id, action,
        before, after)
      select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
        nullif(current_setting('app.caller_request_id', true), ''), tg_table_name, id, 'create',
        null, to_jsonb(added)
      from added;
      return null;
    end $$;

    create function record_security_event(
      of_tenant text, actor text, request_id text, caller_request_id text, entity text,
      entity_key text, action text, details jsonb
    ) returns void language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
      chain text := coalesce((select id from public.tenant where id = of_tenant), '*');
    begin
      if session_tenant not in (chain, '*') then
        raise insufficient_privilege using message = 'a session records events of its own tenant';
      end if;
      -- Row-level security binds an owner that is no superuser, too.
      perform set_config('app.tenant_id', chain, true);
      insert into public.audit (tenant_id, actor, request_id, caller_request_id, entity, entity_id,
        entity_key, action, after)
      values (chain, actor, request_id, caller_request_id, entity,
        case when entity_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          then entity_key::uuid end,
        entity_key, action, details);
      perform set_config('app.tenant_id', session_tenant, true);
    end $$;
  `);
}

/** Entries that name nothing by a UUID were not possible before: they go. */
export async function down(knex) {
  await knex.raw(`
    drop function record_security_event(text, text, text, text, text, text, text, jsonb);
    create or replace function audit_change() returns trigger language plpgsql as $$
    declare
      was jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
      is_now jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      if tg_op = 'UPDATE' and (was - ignored) = (is_now - ignored) then return null; end if;
      insert into audit (tenant_id, actor, request_id, entity, entity_id, action, before, after)
      values (
        coalesce(is_now, was) ->> 'tenant_id',
        current_setting('app.actor', true),
        current_setting('app.request_id', true),
        tg_table_name,
        (coalesce(is_now, was) ->> 'id')::uuid,
        case
          when tg_op = 'INSERT' then 'create'
          when tg_op = 'DELETE' then 'delete'
          when was ->> 'deleted_at' is null and is_now ->> 'deleted_at' is not null then 'delete'
          else 'update'
        end,
        was,
        is_now
      );
      return null;
    end $$;
    create or replace function audit_inserted() returns trigger language plpgsql as $$
    begin
      insert into audit (tenant_id, actor, request_id, entity, entity_id, action, before, after)
      select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
        tg_table_name, id, 'create', null, to_jsonb(added)
      from added;
      return null;
    end $$;
    delete from audit where entity_id is null;
    alter table audit
      drop column caller_request_id,
      drop column entity_key,
      alter column entity_id set not null;
  `);
}
