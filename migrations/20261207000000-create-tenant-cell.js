/**
 * Several PostgreSQL servers may hold the tenants of an instance: `tenant_cell` of the home database
 * says which one a tenant is in that is not in the home database itself (docs/decisions/0360). Every
 * database says in `cell_identity` which cell it is, so that two addresses that were exchanged are
 * noticed before anything is written.
 *
 * Security events are recorded in the transaction of what they are about, and keys, grants and
 * suspensions are in the home database. Events of a tenant of another cell wait in `relayed_event`
 * until they are in the audit of its cell, once: `received_event` there knows those that came.
 *
 * A cell has the rows of its tenants in `tenant` too, for foreign keys; `mirror_tenants` brings their
 * names and suspensions there. Who may use which tenant is decided in the home database alone.
 */
const asOwner = 'security definer set search_path = pg_catalog, public';
const audited = `insert into public.audit (tenant_id, at, actor, request_id, caller_request_id,
  entity, entity_id, entity_key, action, after)`;
const uuidOrNull = `case when entity_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then entity_key::uuid end`;
const parameters = `of_tenant text, actor text, request_id text, caller_request_id text, entity text,
  entity_key text, action text, details jsonb`;

const recordEvent = (relay) => `
  create or replace function record_security_event(${parameters})
  returns void language plpgsql ${asOwner} as $$
  declare
    session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
    chain text := coalesce((select id from public.tenant where id = of_tenant), '*');
  begin
    if session_tenant not in (chain, '*') then
      raise insufficient_privilege using message = 'a session records events of its own tenant';
    end if;
    -- Row-level security binds an owner that is no superuser, too.
    perform set_config('app.tenant_id', chain, true);
    ${relay}
    ${audited}
    values (chain, clock_timestamp(), actor, request_id, caller_request_id, entity, ${uuidOrNull},
      entity_key, action, details);
    perform set_config('app.tenant_id', session_tenant, true);
  end $$;`;

export async function up(knex) {
  await knex.raw(`
    create table cell_identity (
      is_only boolean not null default true,
      name text not null,
      constraint cell_identity_pkey primary key (is_only),
      constraint cell_identity_only check (is_only)
    );

    create table tenant_cell (
      tenant_id text collate "C" not null references tenant (id),
      cell text not null,
      placed_at timestamptz not null default now(),
      constraint tenant_cell_pkey primary key (tenant_id),
      constraint tenant_cell_elsewhere check (cell <> 'home')
    );
    select protect_platform_rows('tenant_cell');

    create function tell_tenant_cell() returns trigger language plpgsql as $$
    begin
      perform pg_notify('tenant_cell', coalesce(new.tenant_id, old.tenant_id));
      return null;
    end $$;
    create trigger tell_tenant_cell after insert or update or delete on tenant_cell
      for each row execute function tell_tenant_cell();

    create table relayed_event (
      tenant_id text collate "C" not null,
      id uuid not null default gen_random_uuid(),
      at timestamptz not null default clock_timestamp(),
      actor text,
      request_id text,
      caller_request_id text,
      entity text not null,
      entity_key text,
      action text not null,
      details jsonb,
      constraint relayed_event_pkey primary key (id)
    );
    create index relayed_event_at on relayed_event (at);
    select protect_platform_rows('relayed_event');

    create table received_event (
      id uuid not null,
      received_at timestamptz not null default now(),
      constraint received_event_pkey primary key (id)
    );
    create index received_event_at on received_event (received_at);

    ${recordEvent(`if exists (select from public.tenant_cell where tenant_id = chain) then
      insert into public.relayed_event (tenant_id, actor, request_id, caller_request_id, entity,
        entity_key, action, details)
      values (chain, actor, request_id, caller_request_id, entity, entity_key, action, details);
      perform set_config('app.tenant_id', session_tenant, true);
      return;
    end if;`)}

    create function receive_security_event(event uuid, at timestamptz, ${parameters})
    returns void language plpgsql ${asOwner} as $$
    declare
      session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
    begin
      if session_tenant <> '*' then
        raise insufficient_privilege using message = 'only the platform passes events on';
      end if;
      insert into public.received_event (id) values (event) on conflict do nothing;
      if not found then return; end if;
      perform set_config('app.tenant_id', of_tenant, true);
      ${audited}
      values (of_tenant, at, actor, request_id, caller_request_id, entity, ${uuidOrNull}, entity_key,
        action, details);
      perform set_config('app.tenant_id', session_tenant, true);
    end $$;

    create function mirror_tenants(tenants jsonb) returns void language sql ${asOwner} as $$
      update tenant set name = given.name, suspended_at = given."suspendedAt"
      from jsonb_to_recordset(tenants) as given (id text, name text, "suspendedAt" timestamptz)
      where tenant.id = given.id
        and (tenant.name, tenant.suspended_at) is distinct from (given.name, given."suspendedAt")
    $$;
    revoke all on function mirror_tenants(jsonb) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function mirror_tenants(jsonb) to durabill_app;
      end if;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function mirror_tenants(jsonb);
    drop function receive_security_event(uuid, timestamptz, text, text, text, text, text, text, text,
      jsonb);
    ${recordEvent('')}
    drop table received_event, relayed_event, tenant_cell, cell_identity;
    drop function tell_tenant_cell();
  `);
}
