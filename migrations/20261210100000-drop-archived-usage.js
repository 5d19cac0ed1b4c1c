/**
 * Months of usage leave the database once they are archived (docs/decisions/0346). A partition has rows
 * of all tenants, so what stays of it is copied into a table that takes its place: rows of others, and
 * what the archive has not. What is written to a partition meanwhile is noted, so that nothing is
 * dropped that is not as it was when it was compared.
 */
const asOwner = 'security definer set search_path = pg_catalog, public';
const kept = `array['usage_event', 'rated_transaction']`;

export async function up(knex) {
  await knex.raw(`
    alter table usage_archive_month
      -- Since when the rows are in the archive alone; null: the database has them.
      add column dropped_at timestamptz,
      -- Of the rows of the month: when its usage occurred, and the days of its charges, both inclusive.
      add column first_at timestamptz,
      add column last_at timestamptz,
      add column first_day date,
      add column last_day date;

    -- Which tenants have rows of a partition that were written since it is watched.
    create table usage_partition_change (
      tenant_id text collate "C" not null,
      partition text collate "C" not null,
      changed_at timestamptz not null default now(),
      constraint usage_partition_change_pkey primary key (partition, tenant_id)
    );
    select protect_platform_rows('usage_partition_change');

    create function note_partition_change() returns trigger language plpgsql as $$
    begin
      insert into usage_partition_change (tenant_id, partition)
      values (case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end, tg_table_name)
      on conflict do nothing;
      return null;
    end $$;

    -- The partition of a table that has what was received at an instant.
    create function usage_partition_at(whole text, at timestamptz) returns text
    language plpgsql stable set search_path = pg_catalog, public as $$
    begin
      return (select known.name from usage_partitions() as known
        where known.parent = whole and known.end_id > uuid_at(at)
          and (known.first_id is null or known.first_id <= uuid_at(at)));
    end $$;

    -- Notes from now on what is written to the partitions of a month; waits for writers of theirs.
    create function watch_usage_partitions(month date) returns void
    language plpgsql ${asOwner} set lock_timeout = '4s' as $$
    declare
      whole text;
      part text;
    begin
      foreach whole in array ${kept} loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        execute format('lock table public.%I in share row exclusive mode', part);
        if not exists (
          select from pg_trigger where tgrelid = format('public.%I', part)::regclass
            and tgname = 'note_change'
        ) then
          execute format('create trigger note_change after insert or update or delete on public.%I
            for each row execute function note_partition_change()', part);
        end if;
        delete from usage_partition_change where partition = part;
      end loop;
    end $$;

    -- Copies what stays when these tenants lose a month: rows of others and of other months, rejected
    -- events, repeats, which only their rows find by external id, and events at another place of the log
    -- than their id says, whose message only they find.
    create function prepare_usage_drop(month date, tenants text[]) returns bigint
    language plpgsql ${asOwner} as $$
    declare
      whole text;
      part text;
      rest text;
      owner text;
      place record;
      columns text;
      stays text;
      first_id uuid := uuid_at(month::timestamp at time zone 'UTC');
      end_id uuid := uuid_at((month + interval '1 month') at time zone 'UTC');
      entered text := current_setting('app.tenant_id', true);
      copied bigint := 0;
      found bigint;
    begin
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      foreach whole in array ${kept} loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        rest := part || '_kept';
        execute format('drop table if exists public.%I', rest);
        execute format('create table public.%I (like public.%I including all)', rest, whole);
        perform protect_tenant_rows(format('public.%I', rest)::regclass);
        perform keep_few_common_accounts(rest);
        select known.first_id, known.end_id into place from usage_partitions() as known
        where known.name = part;
        -- With it, nothing is read when the table becomes a partition.
        execute format('alter table public.%I add constraint kept_bound check (id < %L%s)', rest,
          place.end_id, case when place.first_id is null then '' else format(' and id >= %L', place.first_id) end);
        select string_agg(quote_ident(attname), ', ' order by attnum) into columns
        from pg_attribute
        where attrelid = format('public.%I', whole)::regclass and attnum > 0
          and not attisdropped and attgenerated = '';
        stays := case whole when 'usage_event'
          then $sql$ or status = 'rejected' or original_id is not null
            or usage_is_moved(id, partition, "offset") $sql$ else '' end;
        for owner in select id from tenant order by id loop
          perform set_config('app.tenant_id', owner, true);
          execute format('insert into public.%1$I (%2$s) select %2$s from public.%3$I
            where tenant_id = $1 and (not $2 or id < $3 or id >= $4 %4$s)', rest, columns, part, stays)
          using owner, owner = any(tenants), first_id, end_id;
          get diagnostics found = row_count;
          copied := copied + found;
        end loop;
        perform set_config('app.tenant_id', entered, true);
        execute format('analyze public.%I', rest);
      end loop;
      return copied;
    end $$;

    -- Drops the month of these tenants: under a lock that everybody waits for, what stays takes the
    -- place of the partition. Nothing is read but who has rows, so that it takes milliseconds.
    create function finish_usage_drop(month date, tenants text[], at timestamptz) returns bigint
    language plpgsql ${asOwner} set lock_timeout = '500ms' as $$
    declare
      whole text;
      part text;
      bound text;
      one text;
      has_strangers boolean;
      freed bigint := 0;
      entered text := current_setting('app.tenant_id', true);
      first_id uuid := uuid_at(month::timestamp at time zone 'UTC');
      end_id uuid := uuid_at((month + interval '1 month') at time zone 'UTC');
    begin
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      -- A legal hold that is placed at this moment is waited for, or waits.
      foreach one in array tenants loop
        perform pg_advisory_xact_lock(hashtextextended('retention/' || one, 0));
      end loop;
      lock table only usage_event, only rated_transaction in access exclusive mode;
      foreach one in array tenants loop
        if exists (select from legal_hold where tenant_id = one) then
          raise exception 'the tenant % is under a legal hold', one using errcode = 'DB346';
        end if;
        if not exists (
          select from usage_archive_month as known where known.tenant_id = one
            and known.month = finish_usage_drop.month and known.state = 'complete'
            and known.dropped_at is null
        ) then
          raise exception 'the archive of % is not complete, or it is dropped', one
            using errcode = 'DB346';
        end if;
        perform set_config('app.tenant_id', one, true);
        if exists (
          select from unbilled_usage as late where late.tenant_id = one
            and late.transaction_id >= first_id and late.transaction_id < end_id
        ) then
          raise exception 'usage of % is not billed', one using errcode = 'DB346';
        end if;
        perform set_config('app.tenant_id', entered, true);
      end loop;
      foreach whole in array ${kept} loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        if exists (
          select from pg_publication_rel
          where prrelid in (whole::regclass, format('public.%I', part)::regclass)
        ) then
          raise exception 'a tenant is being moved to another cell' using errcode = 'DB346';
        end if;
        execute format('lock table public.%I in access exclusive mode', part);
        if exists (select from usage_partition_change where partition = part) then
          raise exception 'rows of % were written meanwhile', part using errcode = 'DB347';
        end if;
        -- Whoever has rows here but is no tenant was not copied.
        execute format('alter table public.%I no force row level security', part);
        execute format('with recursive owner (id) as (
            (select tenant_id from public.%1$I order by tenant_id limit 1)
            union all
            select (select tenant_id from public.%1$I where tenant_id > owner.id
              order by tenant_id limit 1)
            from owner where owner.id is not null
          ) select exists (select from owner where owner.id is not null
              and not exists (select from tenant where tenant.id = owner.id))', part) into has_strangers;
        if has_strangers then
          raise exception 'rows of % belong to no tenant', part using errcode = 'DB346';
        end if;
        freed := freed + pg_total_relation_size(format('public.%I', part)::regclass)
          - pg_total_relation_size(format('public.%I', part || '_kept')::regclass);
        select pg_get_expr(relpartbound, oid) into bound from pg_class
        where oid = format('public.%I', part)::regclass;
        execute format('alter table public.%I detach partition public.%I', whole, part);
        execute format('drop table public.%I', part);
        execute format('alter table public.%I rename to %I', part || '_kept', part);
        execute format('alter table public.%I attach partition public.%I %s', whole, part, bound);
        execute format('alter table public.%I drop constraint kept_bound', part);
      end loop;
      update usage_archive_month as known set dropped_at = at
      where known.tenant_id = any(tenants) and known.month = finish_usage_drop.month;
      return freed;
    end $$;

    -- Forgets a drop that is not finished.
    create function abandon_usage_drop(month date) returns void
    language plpgsql ${asOwner} set lock_timeout = '4s' as $$
    declare
      whole text;
      part text;
    begin
      foreach whole in array ${kept} loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        execute format('drop table if exists public.%I', part || '_kept');
      end loop;
    end $$;

    do $$
    declare
      one text;
    begin
      foreach one in array array['watch_usage_partitions(date)',
        'prepare_usage_drop(date, text[])', 'finish_usage_drop(date, text[], timestamptz)',
        'abandon_usage_drop(date)']
      loop
        execute format('revoke all on function %s from public', one);
        if exists (select 1 from pg_roles where rolname = 'durabill_app') then
          execute format('grant execute on function %s to durabill_app', one);
        end if;
      end loop;
    end $$;
  `);
}

/** What was dropped has to be restored before: the version before does not read archives. */
export async function down(knex) {
  await knex.raw(`
    do $$ begin
      if exists (select from usage_archive_month where dropped_at is not null) then
        raise exception 'months of usage are in the archive alone: restore them first';
      end if;
    end $$;
    drop function abandon_usage_drop(date);
    drop function finish_usage_drop(date, text[], timestamptz);
    drop function prepare_usage_drop(date, text[]);
    drop function watch_usage_partitions(date);
    drop function usage_partition_at(text, timestamptz);
    drop function note_partition_change() cascade;
    drop table usage_partition_change;
    alter table usage_archive_month drop column dropped_at, drop column first_at,
      drop column last_at, drop column first_day, drop column last_day;
  `);
}
