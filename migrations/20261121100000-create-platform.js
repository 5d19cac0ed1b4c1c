/**
 * Roles, row-level security, audit; tenants, access keys and signing keys.
 *
 * `protect_tenant_rows(table)` gives a table its second lock: rows are visible and writable only
 * for the tenant of `app.tenant_id`. `protect_platform_rows` also admits `*`, which the platform
 * itself sets where it works for all tenants (looking up a key, publishing, finding waiting usage).
 */
export async function up(knex) {
  await knex.raw(`
    do $$ begin
      if not exists (select 1 from pg_roles where rolname = 'durabill_app') then
        create role durabill_app nologin nobypassrls;
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise notice 'no role durabill_app: the connecting role must not bypass row-level security';
    end $$;

    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        execute format('grant durabill_app to %I', current_user);
        grant usage on schema public to durabill_app;
        alter default privileges in schema public
          grant select, insert, update, delete on tables to durabill_app;
        alter default privileges in schema public grant usage on sequences to durabill_app;
      end if;
    end $$;

    create function protect_tenant_rows(target regclass) returns void language plpgsql as $$
    begin
      execute format('alter table %s enable row level security, force row level security', target);
      execute format(
        'create policy tenant_rows on %s
           using (tenant_id = current_setting(''app.tenant_id'', true))
           with check (tenant_id = current_setting(''app.tenant_id'', true))', target);
    end $$;

    create function protect_platform_rows(target regclass) returns void language plpgsql as $$
    begin
      execute format('alter table %s enable row level security, force row level security', target);
      execute format(
        'create policy platform_rows on %s
           using (current_setting(''app.tenant_id'', true) in (tenant_id, ''*''))
           with check (current_setting(''app.tenant_id'', true) in (tenant_id, ''*''))', target);
    end $$;

    create table tenant (
      id text collate "C" primary key,
      name text not null,
      plan text not null default 'standard',
      request_limit integer,
      created_at timestamptz not null default now(),
      constraint tenant_id_form check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
      constraint tenant_plan_known check (plan in ('standard', 'premium', 'enterprise'))
    );

    create table access_key (
      id text primary key,
      tenant_id text collate "C" not null references tenant (id),
      name text,
      org_id text,
      roles text[] not null,
      secret_hash bytea not null,
      created_at timestamptz not null default now(),
      revoked_at timestamptz
    );
    create index access_key_tenant on access_key (tenant_id, created_at);
    select protect_platform_rows('access_key');

    create table signing_key (
      kid text primary key,
      public_jwk jsonb not null,
      private_jwk_sealed text not null,
      created_at timestamptz not null default now()
    );

    create table audit (
      tenant_id text collate "C" not null,
      id bigint generated always as identity,
      at timestamptz not null default clock_timestamp(),
      actor text,
      request_id text,
      entity text not null,
      entity_id uuid not null,
      action text not null,
      before jsonb,
      after jsonb,
      primary key (tenant_id, id)
    );
    create index audit_entity on audit (tenant_id, entity, entity_id, id);
    select protect_tenant_rows('audit');

    create function audit_change() returns trigger language plpgsql as $$
    declare
      was jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
      is_now jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      -- The version is raised whenever a part changes; the part has its own entry.
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

    create function audit_table(target regclass) returns void language plpgsql as $$
    begin
      execute format('create trigger audit after insert or update or delete on %s
        for each row execute function audit_change()', target);
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function audit_table(regclass);
    drop table audit, signing_key, access_key, tenant;
    drop function audit_change();
    drop function protect_platform_rows(regclass);
    drop function protect_tenant_rows(regclass);
  `);
}
