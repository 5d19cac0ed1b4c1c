/**
 * Retention: how long what a tenant has is kept, what was removed, and the legal hold under which
 * nothing is (docs/decisions/0350). The audit goes only as a sealed prefix of its chain, whose last
 * hash is kept (docs/decisions/0351).
 */
const asOwner = 'security definer set search_path = pg_catalog, public';
const kinds = `('messages', 'webhooks', 'executions', 'idempotencyKeys', 'audit')`;

export async function up(knex) {
  await knex.raw(`
    create table retention_rule (
      -- '*': the default of the installation.
      tenant_id text collate "C" not null,
      kind text collate "C" not null,
      -- Null: for ever.
      days integer,
      updated_at timestamptz not null default now(),
      constraint retention_rule_pkey primary key (tenant_id, kind),
      constraint retention_rule_kind check (kind in ${kinds}),
      constraint retention_rule_days check (days > 0)
    );
    select protect_platform_rows('retention_rule');
    create policy default_rows on retention_rule for select using (tenant_id = '*');

    create table retention_state (
      tenant_id text collate "C" not null references tenant (id),
      kind text collate "C" not null,
      -- Rows that were removed so far.
      removed bigint not null default 0,
      -- What is older was looked through; null while the first look is under way.
      removed_before timestamptz,
      constraint retention_state_pkey primary key (tenant_id, kind)
    ) with (fillfactor = 50);
    select protect_platform_rows('retention_state');

    create table legal_hold (
      tenant_id text collate "C" not null references tenant (id),
      reason text not null,
      placed_by text not null,
      placed_at timestamptz not null,
      constraint legal_hold_pkey primary key (tenant_id)
    );
    select protect_platform_rows('legal_hold');

    -- Ranges of the usage log whose messages retention has removed, and when; [first, end).
    create table removed_message (
      tenant_id text collate "C" not null,
      partition integer not null,
      first_offset bigint not null,
      end_offset bigint not null,
      removed_on date not null,
      constraint removed_message_pkey primary key (tenant_id, partition, first_offset)
    );
    select protect_tenant_rows('removed_message');

    -- The least UUIDv7 of an instant.
    create function uuid_at(at timestamptz) returns uuid language sql immutable strict as $$
      select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
        || '70008000000000000000')::uuid
    $$;

    -- Where an audit begins that retention has cut: after the seal of this position and hash.
    create table audit_cut (
      tenant_id text collate "C" not null,
      position bigint not null,
      hash bytea not null,
      cut_at timestamptz not null default now(),
      constraint audit_cut_pkey primary key (tenant_id)
    );
    select protect_platform_rows('audit_cut');

    create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
      -- What a cut covers may go, in 'age_audit' alone.
      if tg_op = 'DELETE' and tg_level = 'ROW' and current_setting('app.ageing', true) = 'on' then
        if tg_table_name = 'audit' then
          if exists (
            select from audit_cut as cut join audit_seal as seal
              on seal.tenant_id = cut.tenant_id and seal.position <= cut.position
            where cut.tenant_id = old.tenant_id and seal.audit_id = old.id
          ) then return old; end if;
        elsif tg_table_name = 'audit_seal' then
          if exists (
            select from audit_cut as cut
            where cut.tenant_id = old.tenant_id and cut.position >= old.position
          ) then return old; end if;
        end if;
      end if;
      raise insufficient_privilege using message = format('%s is append-only', tg_table_name);
    end $$;

    -- Whether an entry is the one that was sealed.
    create function audit_fits(sealed bytea, previous bytea, place bigint, entry audit)
    returns boolean language sql stable set search_path = pg_catalog, public as $$
      select sealed = audit_hash(previous, place, entry)
    $$;

    create function age_audit(of_tenant text, entries_max integer) returns integer
    language plpgsql ${asOwner} as $$
    declare
      kept_days integer;
      newest bigint;
      begins_at bigint;
      begins_with bytea;
      cut record;
    begin
      if current_setting('app.tenant_id', true) is distinct from of_tenant then
        raise insufficient_privilege using message = 'a session ages the audit of its own tenant';
      end if;
      -- As retention-rule.ts takes it, together with legal holds.
      perform pg_advisory_xact_lock(hashtextextended('retention/' || of_tenant, 0));
      if exists (select from legal_hold where tenant_id = of_tenant) then return 0; end if;
      select rule.days into kept_days from retention_rule as rule
        where rule.kind = 'audit' and rule.tenant_id in (of_tenant, '*')
        order by rule.tenant_id = '*' limit 1;
      if kept_days is null then return 0; end if;
      select known.position, known.hash into begins_at, begins_with from audit_cut as known
        where known.tenant_id = of_tenant;
      if not found then
        begins_at := 0;
        begins_with := sha256(convert_to(of_tenant, 'UTF8'));
      end if;
      -- The newest seal stays: the chain goes on from it.
      select max(position) into newest from audit_seal where tenant_id = of_tenant;
      -- The longest prefix that is old and fits: what does not fit stays, to be seen.
      with first as (
        select seal.position, seal.hash,
          coalesce(entry.at < date_trunc('day', now(), 'UTC') - kept_days * interval '1 day'
            and seal.position = begins_at + row_number() over in_order
            and seal.previous_hash = lag(seal.hash, 1, begins_with) over in_order
            and audit_fits(seal.hash, seal.previous_hash, seal.position, entry), false) as may_go
        from audit_seal as seal left join audit as entry
          on entry.tenant_id = seal.tenant_id and entry.id = seal.audit_id
        where seal.tenant_id = of_tenant and seal.position < newest
        window in_order as (order by seal.position)
        order by seal.position limit entries_max
      ), prefix as (
        select position, hash, bool_and(may_go) over (order by position) as goes from first
      )
      select position, hash into cut from prefix where goes order by position desc limit 1;
      if not found then return 0; end if;
      insert into audit_cut (tenant_id, position, hash) values (of_tenant, cut.position, cut.hash)
        on conflict (tenant_id) do update set position = excluded.position, hash = excluded.hash,
          cut_at = now();
      insert into audit (tenant_id, actor, entity, action, after)
        values (of_tenant, 'retention', 'audit', 'delete', jsonb_build_object(
          'upToPosition', cut.position, 'hash', encode(cut.hash, 'hex'), 'days', kept_days));
      perform set_config('app.ageing', 'on', true);
      delete from audit using audit_seal as seal
        where audit.tenant_id = of_tenant and seal.tenant_id = of_tenant
          and seal.audit_id = audit.id and seal.position <= cut.position;
      delete from audit_seal where tenant_id = of_tenant and position <= cut.position;
      perform set_config('app.ageing', '', true);
      return cut.position - begins_at;
    end $$;
    revoke all on function age_audit(text, integer) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function age_audit(text, integer) to durabill_app;
        revoke all on audit_cut from durabill_app;
        grant select on audit_cut to durabill_app;
      end if;
    end $$;
  `);
}

/** What was removed stays removed: a chain that was cut does not verify without its cut. */
export async function down(knex) {
  await knex.raw(`
    drop function age_audit(text, integer);
    drop function audit_fits(bytea, bytea, bigint, audit);
    drop function uuid_at(timestamptz);
    create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
      raise insufficient_privilege using message = format('%s is append-only', tg_table_name);
    end $$;
    drop table removed_message, audit_cut, legal_hold, retention_state, retention_rule;
  `);
}
