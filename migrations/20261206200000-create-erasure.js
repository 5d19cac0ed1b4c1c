/**
 * Erasure of a person: what is looked for while one is under way, and what of the sealed audit was
 * erased by which entry (docs/decisions/0353, 0354).
 *
 * `erased_json` keeps the order of keys and the digits of numbers, which jsonb would not.
 */
const asOwner = 'security definer set search_path = pg_catalog, public';
const pure = 'language sql immutable set search_path = pg_catalog, public';

export async function up(knex) {
  await knex.raw(`
    create table erasure (
      tenant_id text collate "C" not null references tenant (id),
      -- The execution that erases.
      id uuid not null,
      account_id uuid not null,
      -- In small letters; null when all of it is gone. Rows that hold a mark are about the person: of
      -- them go texts that are one of 'wholes', or hold one of 'parts'.
      marks text[],
      wholes text[],
      parts text[],
      started_at timestamptz not null default now(),
      ended_at timestamptz,
      constraint erasure_pkey primary key (tenant_id, id)
    );
    select protect_tenant_rows('erasure');

    create function is_marked(given text, marks text[]) returns boolean ${pure} as $$
      select exists (select from unnest(marks) as mark where strpos(lower(given), mark) > 0)
    $$;

    create function erased_text(given text, wholes text[], parts text[]) returns text ${pure} as $$
      select case when lower(given) = any(wholes) or is_marked(given, parts)
        then '[erased]' else given end
    $$;

    create function erased_json(given json, wholes text[], parts text[]) returns json
    language plpgsql immutable set search_path = pg_catalog, public as $$
    begin
      case json_typeof(given)
        when 'string' then
          -- What no text of PostgreSQL can hold cannot be compared.
          if strpos(given::text, '\\u0000') > 0 then return '"[erased]"'; end if;
          if erased_text(given #>> '{}', wholes, parts) = given #>> '{}' then return given; end if;
          return '"[erased]"';
        when 'object' then
          return coalesce((
            select '{' || string_agg(to_json(key)::text || ':'
              || erased_json(value, wholes, parts)::text, ',' order by number) || '}'
            from json_each(given) with ordinality as member (key, value, number)
          ), '{}');
        when 'array' then
          return coalesce((
            select '[' || string_agg(erased_json(value, wholes, parts)::text, ',' order by number)
              || ']'
            from json_array_elements(given) with ordinality as item (value, number)
          ), '[]');
        else return given;
      end case;
    end $$;

    -- The same of a text that should be JSON.
    create function erased_document(given text, wholes text[], parts text[]) returns text
    language plpgsql immutable set search_path = pg_catalog, public as $$
    begin
      return erased_json(given::json, wholes, parts)::text;
    exception when others then
      return '"[erased]"';
    end $$;

    -- A usage event without what rating does not read; the account has another reference now.
    create function erased_message(given text, reference text, wholes text[], parts text[])
    returns text language plpgsql immutable set search_path = pg_catalog, public as $$
    begin
      return coalesce((
        select '{' || string_agg(to_json(key)::text || ':' || case
          when key = 'billingAccountRef' then to_json(reference)::text
          -- Events are known by it, so that none is charged twice.
          when key = 'externalTransactionId' then value::text
          else erased_json(value, wholes, parts)::text end, ',' order by number) || '}'
        from json_each(given::json) with ordinality as member (key, value, number)
        where key in ('externalTransactionId', 'serviceId', 'eventTimestamp', 'billingAccountRef',
          'dimensions', 'quantity', 'serviceInstanceId', 'priceUnitLabel')
      ), '{}');
    exception when others then
      return '{}';
    end $$;

    -- Hashes of sealed entries as erasure has left them, each recorded by an entry of the audit.
    create table audit_redaction (
      tenant_id text collate "C" not null,
      audit_id bigint not null,
      recorded_in bigint not null,
      hash bytea not null,
      constraint audit_redaction_pkey primary key (tenant_id, audit_id, recorded_in)
    );
    create index audit_redaction_record on audit_redaction (tenant_id, recorded_in, audit_id);
    select protect_platform_rows('audit_redaction');

    create or replace function audit_fits(
      sealed bytea, previous bytea, place bigint, entry audit
    ) returns boolean language sql stable set search_path = pg_catalog, public as $$
      select sealed = own.hash or exists (
        select from audit_redaction as known where known.tenant_id = entry.tenant_id
          and known.audit_id = entry.id and known.hash = own.hash
      ) from (select audit_hash(previous, place, entry) as hash) as own
    $$;

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
      -- States lose what an erasure looks for, in 'erase_audit' alone.
      if tg_op = 'UPDATE' and tg_table_name = 'audit' then
        if current_setting('app.erasing', true) = 'on'
          and to_jsonb(new) - 'before' - 'after' = to_jsonb(old) - 'before' - 'after'
        then return new; end if;
      end if;
      raise insufficient_privilege using message = format('%s is append-only', tg_table_name);
    end $$;

    create function erase_audit(
      of_tenant text, erasure_id uuid, after_id bigint, entries_max integer,
      out last_id bigint, out erased integer
    ) language plpgsql ${asOwner} as $$
    declare
      task erasure;
      entry audit;
      ids bigint[] := '{}';
      sealed_ids bigint[] := '{}';
      hashes bytea[] := '{}';
      befores jsonb[] := '{}';
      afters jsonb[] := '{}';
      hash_now bytea;
      record_id bigint;
    begin
      if current_setting('app.tenant_id', true) is distinct from of_tenant then
        raise insufficient_privilege using message = 'a session erases of its own tenant';
      end if;
      perform pg_advisory_xact_lock(hashtextextended('retention/' || of_tenant, 0));
      -- No entry is sealed meanwhile.
      perform pg_advisory_xact_lock(hashtext('durabill'), hashtext('audit'));
      select * into task from erasure
        where tenant_id = of_tenant and id = erasure_id and ended_at is null;
      if not found or exists (select from legal_hold where tenant_id = of_tenant) then
        raise insufficient_privilege using message = 'no erasure is under way';
      end if;
      erased := 0;
      for entry in
        select * from audit where tenant_id = of_tenant and id > after_id
        order by id limit entries_max
      loop
        last_id := entry.id;
        continue when not is_marked(
          coalesce(entry.before::text, '') || coalesce(entry.after::text, ''), task.marks);
        declare
          was audit := entry;
        begin
          entry.before := erased_json(entry.before::json, task.wholes, task.parts)::jsonb;
          entry.after := erased_json(entry.after::json, task.wholes, task.parts)::jsonb;
          continue when entry.before is not distinct from was.before
            and entry.after is not distinct from was.after;
        end;
        erased := erased + 1;
        ids := ids || entry.id;
        befores := befores || entry.before;
        afters := afters || entry.after;
        select audit_hash(seal.previous_hash, seal.position, entry) into hash_now
          from audit_seal as seal where seal.tenant_id = of_tenant and seal.audit_id = entry.id;
        if found then
          sealed_ids := sealed_ids || entry.id;
          hashes := hashes || hash_now;
        end if;
      end loop;
      if erased = 0 then return; end if;
      insert into audit (tenant_id, actor, request_id, entity, entity_id, action, after)
        select of_tenant, current_setting('app.actor', true), current_setting('app.request_id', true),
          'account', task.account_id, 'erase', jsonb_build_object('entries', erased, 'digest',
            encode(sha256(coalesce(string_agg(each.hash, ''::bytea order by each.id), '')), 'hex'))
        from unnest(sealed_ids, hashes) as each (id, hash)
        returning id into record_id;
      insert into audit_redaction (tenant_id, audit_id, recorded_in, hash)
        select of_tenant, each.id, record_id, each.hash
        from unnest(sealed_ids, hashes) as each (id, hash);
      perform set_config('app.erasing', 'on', true);
      update audit set before = each.before, after = each.after
        from unnest(ids, befores, afters) as each (id, before, after)
        where audit.tenant_id = of_tenant and audit.id = each.id;
      perform set_config('app.erasing', '', true);
    end $$;
    revoke all on function erase_audit(text, uuid, bigint, integer) from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function erase_audit(text, uuid, bigint, integer) to durabill_app;
        revoke all on audit_redaction from durabill_app;
        grant select on audit_redaction to durabill_app;
      end if;
    end $$;
  `);
}

/** What was erased stays erased: without its redactions an audit that lost something does not verify. */
export async function down(knex) {
  await knex.raw(`
    drop function erase_audit(text, uuid, bigint, integer);
    create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
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
    create or replace function audit_fits(
      sealed bytea, previous bytea, place bigint, entry audit
    ) returns boolean language sql stable set search_path = pg_catalog, public as $$
      select sealed = audit_hash(previous, place, entry)
    $$;
    drop function erased_message(text, text, text[], text[]);
    drop function erased_document(text, text[], text[]);
    drop function erased_json(json, text[], text[]);
    drop function erased_text(text, text[], text[]);
    drop function is_marked(text, text[]);
    drop table audit_redaction, erasure;
  `);
}
