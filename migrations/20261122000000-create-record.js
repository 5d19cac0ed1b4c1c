/**
 * Record types and records (document 2, section 4.3).
 *
 * The values of declared scalar fields are also kept in key columns, as texts whose order by bytes
 * is the order of the values: comparing texts is leakproof, so that row-level security lets the
 * planner use the index, which it forbids for numeric and jsonb (docs/decisions/0087).
 */
const keyColumns = Array.from({ length: 20 }, (_, index) => `key${index + 1}`);
const uniqueColumns = Array.from({ length: 6 }, (_, index) => `unique${index + 1}`);

export async function up(knex) {
  await knex.raw(`
    -- Sign, count of whole digits, digits; of a negative number the digits are complemented and a
    -- character that is greater than any digit ends them.
    create function record_number_key(value numeric) returns text
    language plpgsql immutable strict parallel safe as $$
    declare
      digits text := trim_scale(abs(value))::text;
      whole text := ltrim(split_part(digits, '.', 1), '0');
      magnitude text := lpad(length(whole)::text, 2, '0') || whole || split_part(digits, '.', 2);
    begin
      if value < 0 then return '0' || translate(magnitude, '0123456789', '9876543210') || '~'; end if;
      return '1' || magnitude;
    end $$;

    -- The instant in UTC to the microsecond, without the zeros at its end; a date is its midnight.
    create function record_instant_key(value text) returns text
    language plpgsql immutable strict parallel safe as $$
    begin
      if value !~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}(T([01][0-9]|2[0-3]):[0-5][0-9]'
        || '(:[0-5][0-9]([.][0-9]{1,6}){0,1}){0,1}(Z|[+-][0-9]{2}:[0-9]{2}){0,1}){0,1}$') then
        return null;
      end if;
      return rtrim(to_char(
        (case
          when length(value) = 10 then value || 'T00:00Z'
          when value ~ '(Z|[+-][0-9]{2}:[0-9]{2})$' then value
          else value || 'Z'
        end)::timestamptz at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), '0');
    exception when data_exception then
      return null;
    end $$;

    -- The key of a value of a declared type; null when there is none, or it is of another type.
    create function record_key(value jsonb, type text) returns text
    language plpgsql immutable strict parallel safe as $$
    begin
      if jsonb_typeof(value) <> (case type when 'date' then 'string' else type end) then
        return null;
      end if;
      return case type
        when 'string' then left(value #>> '{}', 256)
        when 'number' then record_number_key(value::numeric)
        when 'date' then record_instant_key(value #>> '{}')
        else value #>> '{}'
      end;
    end $$;

    create table record_type (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      label text,
      -- Null: records hold any object.
      fields jsonb,
      -- The key column of each scalar field that has one.
      keys jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint record_type_pkey primary key (tenant_id, id)
    );
    create unique index record_type_name on record_type (tenant_id, name);
    select protect_tenant_rows('record_type'), audit_table('record_type');

    create table record (
      tenant_id text collate "C" not null,
      id uuid not null,
      record_type_id uuid not null,
      data jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      ${[...keyColumns, ...uniqueColumns].map((name) => `${name} text collate "C",`).join('\n')}
      constraint record_pkey primary key (tenant_id, id)
    );
    create index record_list on record (tenant_id, record_type_id, id);
    create index record_created_at on record (tenant_id, record_type_id, created_at, id);
    create index record_updated_at on record (tenant_id, record_type_id, updated_at, id);
    ${keyColumns
      .map(
        (name) => `create index record_${name} on record (tenant_id, record_type_id, ${name}, id)
          where ${name} is not null;`,
      )
      .join('\n')}
    ${uniqueColumns
      .map(
        (name) => `create unique index record_${name} on record (tenant_id, record_type_id, ${name})
          where ${name} is not null;`,
      )
      .join('\n')}
    select protect_tenant_rows('record');

    -- How many records a type has: the sum of its shards. Sessions count in different shards, so
    -- that they do not wait for each other.
    create table record_count (
      tenant_id text collate "C" not null,
      record_type_id uuid not null,
      shard smallint not null,
      records bigint not null,
      constraint record_count_pkey primary key (tenant_id, record_type_id, shard)
    ) with (fillfactor = 50);
    select protect_tenant_rows('record_count');

    create function count_records() returns trigger language plpgsql as $$
    begin
      insert into record_count as counted (tenant_id, record_type_id, shard, records)
      select tenant_id, record_type_id, pg_backend_pid() % 16,
        count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from changed_rows group by tenant_id, record_type_id
      on conflict on constraint record_count_pkey
        do update set records = counted.records + excluded.records;
      return null;
    end $$;
    create trigger count_inserted after insert on record
      referencing new table as changed_rows for each statement execute function count_records();
    create trigger count_deleted after delete on record
      referencing old table as changed_rows for each statement execute function count_records();

    -- The audit of audit_change(), with one statement for ten thousand records.
    create function audit_records() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into audit (tenant_id, actor, request_id, entity, entity_id, action, after)
        select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
          'record', id, 'create', jsonb_build_object('id', id, 'record_type_id', record_type_id,
            'data', data, 'created_at', created_at, 'updated_at', updated_at)
        from new_rows;
      elsif tg_op = 'DELETE' then
        insert into audit (tenant_id, actor, request_id, entity, entity_id, action, before)
        select tenant_id, current_setting('app.actor', true), current_setting('app.request_id', true),
          'record', id, 'delete', jsonb_build_object('id', id, 'record_type_id', record_type_id,
            'data', data, 'created_at', created_at, 'updated_at', updated_at)
        from old_rows;
      else
        insert into audit (tenant_id, actor, request_id, entity, entity_id, action, before, after)
        select is_now.tenant_id, current_setting('app.actor', true),
          current_setting('app.request_id', true), 'record', is_now.id, 'update',
          jsonb_build_object('id', was.id, 'record_type_id', was.record_type_id,
            'data', was.data, 'created_at', was.created_at, 'updated_at', was.updated_at),
          jsonb_build_object('id', is_now.id, 'record_type_id', is_now.record_type_id,
            'data', is_now.data, 'created_at', is_now.created_at, 'updated_at', is_now.updated_at)
        from new_rows as is_now join old_rows as was
          on was.tenant_id = is_now.tenant_id and was.id = is_now.id
        -- A change of the type moves keys; the record itself stays as it was.
        where was.data <> is_now.data;
      end if;
      return null;
    end $$;
    create trigger audit_inserted after insert on record
      referencing new table as new_rows for each statement execute function audit_records();
    create trigger audit_deleted after delete on record
      referencing old table as old_rows for each statement execute function audit_records();
    create trigger audit_updated after update on record
      referencing old table as old_rows new table as new_rows
      for each statement execute function audit_records();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table record_count, record, record_type;
    drop function audit_records();
    drop function count_records();
    drop function record_key(jsonb, text);
    drop function record_instant_key(text);
    drop function record_number_key(numeric);
  `);
}
