/**
 * Makes the audit append-only and chained. `audit_seal` holds, for each entry, its place in the
 * chain of its tenant, the hash of the entry before it and its own hash: an entry that is changed or
 * removed later no longer fits (docs/decisions/0177). Entries are sealed behind the writers, by
 * `seal_audit`, so that changes of one tenant do not wait for each other at the end of its chain.
 *
 * Triggers write the audit as the owner of the tables: who may change records may not write entries
 * of its own making.
 */
const trailOf = `current_setting('app.actor', true), current_setting('app.request_id', true),
  nullif(current_setting('app.caller_request_id', true), '')`;
const asOwner = 'security definer set search_path = pg_catalog, public';
const columns = 'tenant_id, actor, request_id, caller_request_id, entity, entity_id, action';
const stateOf = (
  row,
) => `jsonb_build_object('id', ${row}.id, 'record_type_id', ${row}.record_type_id,
  'data', ${row}.data, 'created_at', ${row}.created_at, 'updated_at', ${row}.updated_at)`;

export async function up(knex) {
  await knex.raw(`
    create or replace function audit_change() returns trigger language plpgsql ${asOwner} as $$
    declare
      was jsonb := case when tg_op = 'INSERT' then null else to_jsonb(old) end;
      is_now jsonb := case when tg_op = 'DELETE' then null else to_jsonb(new) end;
      ignored text[] := array['rating_version', 'updated_at'];
    begin
      -- The version is raised whenever a part changes; the part has its own entry.
      if tg_op = 'UPDATE' and (was - ignored) = (is_now - ignored) then return null; end if;
      insert into audit (${columns}, before, after)
      values (
        coalesce(is_now, was) ->> 'tenant_id', ${trailOf}, tg_table_name,
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

    create or replace function audit_inserted() returns trigger language plpgsql ${asOwner} as $$
    begin
      insert into audit (${columns}, after)
      select tenant_id, ${trailOf}, tg_table_name, id, 'create', to_jsonb(added) from added;
      return null;
    end $$;

    create or replace function audit_records() returns trigger language plpgsql ${asOwner} as $$
    begin
      if tg_op = 'INSERT' then
        insert into audit (${columns}, after)
        select tenant_id, ${trailOf}, 'record', id, 'create', ${stateOf('new_rows')} from new_rows;
      elsif tg_op = 'DELETE' then
        insert into audit (${columns}, before)
        select tenant_id, ${trailOf}, 'record', id, 'delete', ${stateOf('old_rows')} from old_rows;
      else
        insert into audit (${columns}, before, after)
        select is_now.tenant_id, ${trailOf}, 'record', is_now.id, 'update',
          ${stateOf('was')}, ${stateOf('is_now')}
        from new_rows as is_now join old_rows as was
          on was.tenant_id = is_now.tenant_id and was.id = is_now.id
        -- A change of the type moves keys; the record itself stays as it was.
        where was.data <> is_now.data;
      end if;
      return null;
    end $$;

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise insufficient_privilege using message = format('%s is append-only', tg_table_name);
    end $$;

    create table audit_seal (
      tenant_id text collate "C" not null,
      position bigint not null,
      audit_id bigint not null,
      previous_hash bytea not null,
      hash bytea not null,
      primary key (tenant_id, position),
      constraint audit_seal_entry unique (tenant_id, audit_id)
    );
    select protect_platform_rows('audit_seal');

    create trigger append_only before update or delete on audit
      for each row execute function refuse_change();
    create trigger never_truncated before truncate on audit
      for each statement execute function refuse_change();
    create trigger append_only before update or delete on audit_seal
      for each row execute function refuse_change();
    create trigger never_truncated before truncate on audit_seal
      for each statement execute function refuse_change();

    -- How far the entries are sealed. Up to seen_to there were entries when transactions from
    -- seen_before on had not begun: once all earlier ones have ended, none can appear below it.
    create table audit_sealing (
      is_only boolean primary key default true,
      sealed_to bigint not null default 0,
      seen_to bigint not null default 0,
      seen_before xid8 not null default '0',
      constraint audit_sealing_only check (is_only)
    );
    insert into audit_sealing default values;

    -- The sealer reads the entries of all tenants; the owner of the table alone can be it.
    create policy sealer on audit for select using (
      current_setting('app.sealing', true) = 'on'
      and current_user = (select pg_get_userbyid(relowner) from pg_class
        where oid = 'public.audit'::regclass)
    );
    create policy sealer on audit_seal using (
      current_setting('app.sealing', true) = 'on'
      and current_user = (select pg_get_userbyid(relowner) from pg_class
        where oid = 'public.audit'::regclass)
    );
    create index audit_in_order on audit (id);

    create function audit_text(place bigint, entry audit) returns text language sql stable
    set search_path = pg_catalog, public as $$
      select jsonb_build_array(place, entry.tenant_id, entry.id,
        to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), entry.actor,
        entry.request_id, entry.caller_request_id, entry.entity, entry.entity_id, entry.entity_key,
        entry.action, entry.before, entry.after)::text
    $$;

    create function audit_hash(previous bytea, place bigint, entry audit) returns bytea
    language sql stable set search_path = pg_catalog, public as $$
      select sha256(previous || convert_to(audit_text(place, entry), 'UTF8'))
    $$;

    create function seal_audit(entries_max integer) returns integer language plpgsql ${asOwner} as $$
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
    end $$;

    revoke all on function seal_audit(integer) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function seal_audit(integer) to durabill_app;
        revoke all on audit, audit_seal, audit_sealing from durabill_app;
        grant select on audit, audit_seal to durabill_app;
      end if;
    end $$;
  `);
}

/** What is recorded stays; only its seals go. The triggers' functions stay the owner's. */
export async function down(knex) {
  await knex.raw(`
    drop function seal_audit(integer);
    drop function audit_hash(bytea, bigint, audit);
    drop function audit_text(bigint, audit);
    drop index audit_in_order;
    drop policy sealer on audit;
    drop table audit_sealing, audit_seal;
    drop trigger append_only on audit;
    drop trigger never_truncated on audit;
    drop function refuse_change();
    alter function audit_change() security invoker;
    alter function audit_inserted() security invoker;
    alter function audit_records() security invoker;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant select, insert, update, delete on audit to durabill_app;
      end if;
    end $$;
  `);
}
