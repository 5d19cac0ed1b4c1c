/**
 * A tenant that is moved to another cell is fenced off: `tenant_fence` of a database names the tenants
 * whose rows there nobody may use. `arriving`: they are being copied here; `paused`: they are about
 * to leave; `moved`: they have left (docs/decisions/0362).
 *
 * `enter_cell_tenant` begins the transactions of processes that know cells. It takes a lock that
 * whoever raises a fence takes alone, so that nothing is under way behind the fence. Work for all
 * tenants (`*`) has one lock for all, and its statements pass over fenced tenants.
 *
 * `tenant_mark` is copied with a tenant: what the target has of it says how far it has come.
 */
const parameters = `tenant text, actor text, request text, caller_request text, app_role text,
  statement_ms text, lock_ms text, idle_ms text, transaction_ms text`;
const asOwner = 'security definer set search_path = pg_catalog, public';
const eventParameters = `of_tenant text, actor text, request_id text, caller_request_id text,
  entity text, entity_key text, action text, details jsonb`;
const audited = `insert into public.audit (tenant_id, at, actor, request_id, caller_request_id,
  entity, entity_id, entity_key, action, after)`;
const uuidOrNull = `case when entity_key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then entity_key::uuid end`;

/** An event of a tenant that is elsewhere, or on its way, waits until it is known where it is. */
const recordEvent = (elsewhere) => `
  create or replace function record_security_event(${eventParameters})
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
    if ${elsewhere} then
      insert into public.relayed_event (tenant_id, actor, request_id, caller_request_id, entity,
        entity_key, action, details)
      values (chain, actor, request_id, caller_request_id, entity, entity_key, action, details);
      perform set_config('app.tenant_id', session_tenant, true);
      return;
    end if;
    ${audited}
    values (chain, clock_timestamp(), actor, request_id, caller_request_id, entity, ${uuidOrNull},
      entity_key, action, details);
    perform set_config('app.tenant_id', session_tenant, true);
  end $$;`;
const isPlaced = 'exists (select from public.tenant_cell where tenant_id = chain)';
const isFenced = 'exists (select from public.tenant_fence where tenant_id = chain)';

const receiveEvent = (refusal) => `
  create or replace function receive_security_event(event uuid, at timestamptz, ${eventParameters})
  returns void language plpgsql ${asOwner} as $$
  declare
    session_tenant text := coalesce(current_setting('app.tenant_id', true), '');
  begin
    if session_tenant <> '*' then
      raise insufficient_privilege using message = 'only the platform passes events on';
    end if;
    ${refusal}
    insert into public.received_event (id) values (event) on conflict do nothing;
    if not found then return; end if;
    perform set_config('app.tenant_id', of_tenant, true);
    ${audited}
    values (of_tenant, at, actor, request_id, caller_request_id, entity, ${uuidOrNull}, entity_key,
      action, details);
    perform set_config('app.tenant_id', session_tenant, true);
  end $$;`;

/** As in the migration that made it, but for the entries of tenants that are being copied here. */
const sealAudit = (filter) => `
  create or replace function seal_audit(entries_max integer) returns integer
  language plpgsql ${asOwner} as $$
  declare
    mark audit_sealing;
    is_settled boolean;
    entry audit;
    chain text;
    place bigint;
    link bytea;
    own bytea;
    sealed integer := 0;
    last_id bigint;
  begin
    -- One at a time: whoever comes second finds nothing left to do.
    if not pg_try_advisory_xact_lock(hashtext('durabill'), hashtext('audit')) then return 0; end if;
    perform set_config('app.sealing', 'on', true);
    select * into mark from audit_sealing;
    -- A copy of the database in another server counts transactions anew.
    is_settled := mark.seen_before <= pg_snapshot_xmin(pg_current_snapshot())
      or mark.seen_before > pg_snapshot_xmax(pg_current_snapshot());
    for entry in
      select found.* from (
        select * from audit where audit.id > mark.sealed_to and not exists (
          select from audit_seal as known
          where known.tenant_id = audit.tenant_id and known.audit_id = audit.id)
        ${filter}
        order by audit.id limit entries_max
      ) as found order by found.tenant_id, found.id
    loop
      if chain is distinct from entry.tenant_id then
        chain := entry.tenant_id;
        select last.position, last.hash into place, link from audit_seal as last
          where last.tenant_id = chain order by last.position desc limit 1;
        if not found then
          place := 0;
          link := sha256(convert_to(chain, 'UTF8'));
        end if;
      end if;
      place := place + 1;
      own := audit_hash(link, place, entry);
      insert into audit_seal (tenant_id, position, audit_id, previous_hash, hash)
      values (chain, place, entry.id, link, own);
      link := own;
      sealed := sealed + 1;
      last_id := greatest(last_id, entry.id);
    end loop;
    if is_settled and mark.sealed_to < mark.seen_to then
      update audit_sealing set sealed_to = case
        when sealed < entries_max then mark.seen_to else least(mark.seen_to, last_id) end;
    end if;
    -- Looked at anew only when the last look is done with.
    if is_settled and sealed < entries_max then
      update audit_sealing set seen_to = top.id, seen_before = pg_snapshot_xmax(pg_current_snapshot())
      from (select coalesce(max(id), 0) as id from audit) as top where top.id > seen_to;
    end if;
    perform set_config('app.sealing', '', true);
    return sealed;
  end $$;`;

export async function up(knex) {
  await knex.raw(`
    create table tenant_fence (
      tenant_id text collate "C" not null,
      state text not null,
      since timestamptz not null default now(),
      constraint tenant_fence_pkey primary key (tenant_id),
      constraint tenant_fence_state check (state in ('arriving', 'paused', 'moved'))
    );
    select protect_platform_rows('tenant_fence');

    -- In the home database: the move of a tenant, and whether its directory may still be flipped.
    create table tenant_move (
      tenant_id text collate "C" not null references tenant (id),
      run_id text not null,
      from_cell text not null,
      to_cell text not null,
      state text not null default 'copying',
      begun_at timestamptz not null default now(),
      constraint tenant_move_pkey primary key (tenant_id),
      constraint tenant_move_state check (state in ('copying', 'moved', 'ended'))
    );
    select protect_platform_rows('tenant_move');

    create table tenant_mark (
      tenant_id text collate "C" not null,
      mark uuid not null,
      constraint tenant_mark_pkey primary key (tenant_id)
    );
    select protect_tenant_rows('tenant_mark');

    create function tenant_fence_key(tenant text) returns bigint language sql immutable as $$
      select hashtextextended('tenant-fence/' || tenant, 0)
    $$;

    create function enter_cell_tenant(${parameters}) returns void language plpgsql as $$
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
    end $$;

    ${recordEvent(`${isPlaced} or ${isFenced}`)}
    ${receiveEvent(`if exists (select from public.tenant_fence where tenant_id = of_tenant) then
      raise exception using errcode = 'CE001', message = 'the tenant is being moved';
    end if;`)}
    ${sealAudit(`and not exists (
      select from tenant_fence as fence
      where fence.tenant_id = audit.tenant_id and fence.state = 'arriving')`)}
  `);
}

export async function down(knex) {
  await knex.raw(`
    ${sealAudit('')}
    ${receiveEvent('')}
    ${recordEvent(isPlaced)}
    drop function enter_cell_tenant(text, text, text, text, text, text, text, text, text);
    drop function tenant_fence_key(text);
    drop table tenant_mark, tenant_move, tenant_fence;
  `);
}
