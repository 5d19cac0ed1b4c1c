/**
 * How many rated transactions and usage events of each status fall on each day: the totals of lists
 * by date, exact without counting their rows (docs/decisions/0077).
 */
export async function up(knex) {
  await knex.raw(`
    -- The shard is the partition of the event: the rating of one partition never waits for that of
    -- another. The day of an event is that of its time, else of its arrival, in UTC.
    create table usage_day (
      tenant_id text collate "C" not null,
      kind text collate "C" not null,
      day date not null,
      shard integer not null,
      total bigint not null,
      -- No id of that day lies outside: a page by date looks nowhere else.
      first_id uuid not null,
      last_id uuid not null,
      constraint usage_day_pkey primary key (tenant_id, kind, day, shard),
      constraint usage_day_kind check (kind in ('transaction', 'rated', 'rejected', 'duplicate'))
    ) with (fillfactor = 50);
    select protect_tenant_rows('usage_day');

    -- The twelve bits of the id that hold the partition (docs/decisions/0040).
    create function usage_shard(id uuid) returns integer
    language sql immutable strict parallel safe
    return (get_byte(uuid_send(id), 6) & 15) * 256 + get_byte(uuid_send(id), 7);

    create function usage_day_of(event_at timestamptz, received_at timestamptz) returns date
    language sql immutable parallel safe
    return (coalesce(event_at, received_at) at time zone 'UTC')::date;

    create function tally_transactions() returns trigger language plpgsql as $$
    declare
      sign integer := case when tg_op = 'DELETE' then -1 else 1 end;
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, 'transaction', transaction_date, usage_shard(id), sign * count(*),
        min(id::text)::uuid, max(id::text)::uuid
      from changed group by 1, 3, 4 order by 1, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $$;

    create function tally_events() returns trigger language plpgsql as $$
    declare
      sign integer := case when tg_op = 'DELETE' then -1 else 1 end;
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, status, usage_day_of(event_at, received_at), partition, sign * count(*),
        min(id::text)::uuid, max(id::text)::uuid
      from changed group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $$;

    create function tally_changed_events() returns trigger language plpgsql as $$
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, status, usage_day_of(event_at, received_at), partition, sum(sign),
        min(id::text)::uuid, max(id::text)::uuid
      from (
        select tenant_id, id, status, event_at, received_at, partition, 1 as sign from changed
        union all
        select tenant_id, id, status, event_at, received_at, partition, -1 from was
      ) as change
      group by 1, 2, 3, 4 having sum(sign) <> 0 order by 1, 2, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $$;

    -- The billing of transactions changes neither their day nor their number: no trigger on update.
    create trigger tally_inserted after insert on rated_transaction
      referencing new table as changed for each statement execute function tally_transactions();
    create trigger tally_removed after delete on rated_transaction
      referencing old table as changed for each statement execute function tally_transactions();
    create trigger tally_inserted after insert on usage_event
      referencing new table as changed for each statement execute function tally_events();
    create trigger tally_removed after delete on usage_event
      referencing old table as changed for each statement execute function tally_events();
    create trigger tally_changed after update on usage_event
      referencing old table as was new table as changed
      for each statement execute function tally_changed_events();

    -- The rows that are there; tenant by tenant, as in the migration before.
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into usage_day (tenant_id, kind, day, shard, total, first_id, last_id)
        select tenant_id, 'transaction', transaction_date, usage_shard(id), count(*),
          min(id::text)::uuid, max(id::text)::uuid
        from rated_transaction where tenant_id = tenant group by 1, 3, 4
        union all
        select tenant_id, status, usage_day_of(event_at, received_at), partition, count(*),
          min(id::text)::uuid, max(id::text)::uuid
        from usage_event where tenant_id = tenant group by 1, 2, 3, 4;
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger tally_inserted on rated_transaction;
    drop trigger tally_removed on rated_transaction;
    drop trigger tally_inserted on usage_event;
    drop trigger tally_removed on usage_event;
    drop trigger tally_changed on usage_event;
    drop function tally_transactions();
    drop function tally_events();
    drop function tally_changed_events();
    drop function usage_day_of(timestamptz, timestamptz);
    drop function usage_shard(uuid);
    drop table usage_day;
  `);
}
