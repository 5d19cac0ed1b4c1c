/**
 * `usage_event` and `rated_transaction` are divided by the month in which events were received, which
 * their ids begin with (docs/decisions/0344). The tables that are there become the first partitions as
 * they are: nothing is copied, and nothing is read under the lock, because a valid constraint says up
 * to where they reach. Columns, indexes and triggers are the same, so that the version before goes on.
 */
const tables = {
  usage_event: [
    'usage_event_pkey',
    'usage_event_not_rated',
    'usage_event_time',
    'usage_event_repeat',
    'usage_event_moved',
    'usage_event_message',
    'usage_event_account_open',
    'usage_event_service_open',
  ],
  rated_transaction: [
    'rated_transaction_pkey',
    'rated_transaction_date',
    'rated_transaction_account',
  ],
};
const asOwner = 'security definer set search_path = pg_catalog, public';
const list = (names) => names.map((name) => `'${name}'`).join(', ');

/** SQL that gives a table the privileges that another one has. */
const grantLike = `
    for granted in
      select acl.* from pg_class cross join lateral aclexplode(relacl) as acl
      where oid = was::regclass and acl.grantee <> relowner
    loop
      execute format('grant %s on %s to %s', granted.privilege_type, known,
        case when granted.grantee = 0 then 'public' else granted.grantee::regrole::text end);
    end loop;`;

const divide = (table, indexes) => `
  do $$
  declare
    known text := '${table}';
    was text := '${table}_before';
    bound uuid;
    index_sql text[];
    trigger_sql text[];
    check_sql text[];
    moved record;
    granted record;
  begin
    -- contract: nothing; the name leads to the table in partitions from the same commit on.
    lock table ${table} in access exclusive mode;
    if exists (select from pg_publication_rel where prrelid = '${table}'::regclass) then
      raise exception 'a tenant is being moved to another cell: end that move, then migrate';
    end if;
    if not exists (select from ${table}) then
      bound := uuid_at(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC');
      alter table ${table} drop constraint if exists ${table}_bound;
    else
      select substring(pg_get_constraintdef(oid) from '[0-9a-f]{8}-[0-9a-f-]{27}')::uuid into bound
      from pg_constraint where conrelid = '${table}'::regclass and conname = '${table}_bound';
    end if;

    select array_agg(pg_get_indexdef(found.oid)) into index_sql
    from pg_index join pg_class as found on found.oid = indexrelid
    where indrelid = '${table}'::regclass and not indisprimary
      and found.relname in (${list(indexes)});
    select array_agg(pg_get_triggerdef(oid)) into trigger_sql
    from pg_trigger where tgrelid = '${table}'::regclass and not tgisinternal;
    select array_agg(format('add constraint %I %s', conname, pg_get_constraintdef(oid)))
      into check_sql
    from pg_constraint
    where conrelid = '${table}'::regclass and contype = 'c' and conname <> '${table}_bound';

    for moved in select tgname from pg_trigger where tgrelid = '${table}'::regclass and not tgisinternal
    loop
      execute format('drop trigger %I on ${table}', moved.tgname);
    end loop;
    for moved in select relname from pg_index join pg_class on oid = indexrelid
      where indrelid = '${table}'::regclass
    loop
      execute format('alter index %I rename to %I', moved.relname, moved.relname || '_before');
    end loop;
    alter table ${table} rename to ${table}_before;
    create table ${table} (
      like ${table}_before including defaults including generated including storage
        including compression,
      constraint ${table}_pkey primary key (tenant_id, id)
    ) partition by range (id);
    if check_sql is not null then
      execute 'alter table ${table} ' || array_to_string(check_sql, ', ');
    end if;
    for position in 1 .. cardinality(index_sql) loop execute index_sql[position]; end loop;
    perform protect_tenant_rows('${table}');
    ${grantLike}
    execute format('alter table ${table} attach partition ${table}_before '
      'for values from (minvalue) to (%L)', bound);
    for position in 1 .. cardinality(trigger_sql) loop execute trigger_sql[position]; end loop;
  end $$;`;

const unite = (table) => `
  do $$
  declare
    known text := '${table}_before';
    was text := '${table}';
    trigger_sql text[];
    part record;
    granted record;
  begin
    lock table ${table} in access exclusive mode;
    select array_agg(pg_get_triggerdef(oid)) into trigger_sql
    from pg_trigger where tgrelid = '${table}'::regclass and not tgisinternal;
    ${grantLike}
    alter table ${table} detach partition ${table}_before;
    if exists (select from ${table}) then
      alter table ${table}_before drop constraint if exists ${table}_bound;
    end if;
    for part in select column_names from (
      select string_agg(quote_ident(attname), ', ' order by attnum) as column_names
      from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped
    ) as listed
    loop
      execute format('insert into ${table}_before (%1$s) select %1$s from ${table}',
        part.column_names);
    end loop;
    drop table ${table};
    alter table ${table}_before rename to ${table};
    for part in select relname from pg_index join pg_class on oid = indexrelid
      where indrelid = '${table}'::regclass
    loop
      execute format('alter index %I rename to %I', part.relname,
        regexp_replace(part.relname, '_before$', ''));
    end loop;
    for position in 1 .. cardinality(trigger_sql) loop execute trigger_sql[position]; end loop;
  end $$;`;

export async function up(knex) {
  for (const [table, indexes] of Object.entries(tables)) await knex.raw(divide(table, indexes));
  await knex.raw(`
    -- The partitions of both tables with their bounds, [first_id, end_id); null: from the beginning.
    create function usage_partitions()
    returns table (parent text, name text, first_id uuid, end_id uuid)
    language sql stable set search_path = pg_catalog, public as $$
      select parent.relname::text, part.relname::text,
        substring(bound from 'FROM \\(''([0-9a-f-]{36})''\\)')::uuid,
        substring(bound from 'TO \\(''([0-9a-f-]{36})''\\)')::uuid
      from pg_inherits join pg_class as part on part.oid = inhrelid
      join pg_class as parent on parent.oid = inhparent
      cross join lateral (select pg_get_expr(part.relpartbound, part.oid)) as declared (bound)
      where parent.oid in ('public.usage_event'::regclass, 'public.rated_transaction'::regclass)
      order by 1, 3 nulls first
    $$;

    -- Billing names thousands of accounts in a statement, and the planner compares each with each of the
    -- common ones that it knows of each partition: a hundred of them in 28 partitions take a second.
    create function keep_few_common_accounts(part text) returns void language plpgsql as $$
    begin
      execute format('alter table public.%I alter column account_id set statistics 10', part);
    end $$;
    select keep_few_common_accounts('usage_event_before');
    select keep_few_common_accounts('rated_transaction_before');

    -- Makes what is missing of the partitions of the months from one instant to another; returns how
    -- many were. Attaching a table waits for nobody who reads or writes the others.
    create function make_usage_partitions(first_at timestamptz, last_at timestamptz)
    returns integer language plpgsql ${asOwner} set lock_timeout = '4s' as $$
    declare
      kept text;
      part text;
      month timestamp;
      next_month timestamp;
      made integer := 0;
    begin
      if last_at > first_at + interval '10 years' then
        raise invalid_parameter_value using message = 'these are more than ten years';
      end if;
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      foreach kept in array array['usage_event', 'rated_transaction'] loop
        month := date_trunc('month', first_at at time zone 'UTC');
        while month <= last_at at time zone 'UTC' loop
          next_month := month + interval '1 month';
          if not exists (
            select from usage_partitions() as known where known.parent = kept
              and (known.first_id is null or known.first_id <= uuid_at(month at time zone 'UTC'))
              and known.end_id > uuid_at(month at time zone 'UTC')
          ) then
            part := kept || '_' || to_char(month, 'YYYYMM');
            execute format('create table public.%I (like public.%I including all)', part, kept);
            perform protect_tenant_rows(part::regclass);
            perform keep_few_common_accounts(part);
            execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)',
              kept, part, uuid_at(month at time zone 'UTC'), uuid_at(next_month at time zone 'UTC'));
            made := made + 1;
          end if;
          month := next_month;
        end loop;
      end loop;
      return made;
    end $$;

    -- What the planner knows of a table in partitions only this gathers: autovacuum does it for the
    -- partitions alone. Once a day, and when there are first enough rows to know something.
    create function analyze_usage_partitions() returns boolean
    language plpgsql ${asOwner} as $$
    declare
      kept text;
      done boolean := false;
    begin
      foreach kept in array array['usage_event', 'rated_transaction'] loop
        if exists (
          select from pg_stat_user_tables as stat
          where stat.relid = kept::regclass and (
            stat.last_analyze < now() - interval '1 day' or stat.last_analyze is null
          ) and exists (
            select from pg_inherits join pg_class as part on part.oid = inhrelid
            where inhparent = stat.relid and part.reltuples >= 1000
          )
        ) and pg_try_advisory_xact_lock(hashtextextended('usage-partitions-known', 0)) then
          execute format('analyze %I', kept);
          done := true;
        end if;
      end loop;
      return done;
    end $$;

    revoke all on function make_usage_partitions(timestamptz, timestamptz) from public;
    revoke all on function analyze_usage_partitions() from public;
    do $$ begin
      if exists (select 1 from pg_roles where rolname = 'durabill_app') then
        grant execute on function make_usage_partitions(timestamptz, timestamptz) to durabill_app;
        grant execute on function analyze_usage_partitions() to durabill_app;
      end if;
    end $$;
    select make_usage_partitions(now(), now() + interval '3 months');
  `);
}

/** What later partitions have is copied into the first one, which becomes the table again. */
export async function down(knex) {
  await knex.raw(`
    drop function analyze_usage_partitions();
    drop function make_usage_partitions(timestamptz, timestamptz);
    drop function keep_few_common_accounts(text);
    drop function usage_partitions();
  `);
  for (const table of Object.keys(tables)) await knex.raw(unite(table));
}
