/**
 * What finds usage events stands beside them (docs/decisions/0340, 0341): their external ids, one
 * original for each, for ever, and between which ids the events of a range of the log lie. So nothing
 * but the primary key of `usage_event` is unique, and it may be divided by the time of receipt.
 *
 * Triggers write both, whichever version of the product inserts the events. Workers add what is there.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_identity (
      tenant_id text collate "C" not null,
      external_id text collate "C" not null,
      -- The original event of that external id.
      event_id uuid not null,
      constraint usage_identity_pkey primary key (tenant_id, external_id)
    );
    select protect_tenant_rows('usage_identity');

    -- Events at their own place with these offsets have ids from first_id to last_id. Ranges of a
    -- partition do not overlap: each is of one statement.
    create table usage_range (
      tenant_id text collate "C" not null,
      partition integer not null,
      first_offset bigint not null,
      -- After the last one.
      end_offset bigint not null,
      first_id uuid not null,
      last_id uuid not null,
      constraint usage_range_pkey primary key (tenant_id, partition, first_offset)
    );
    select protect_tenant_rows('usage_range');

    -- Whether an event is at another place of the log than its id says (docs/decisions/0040): it
    -- was repaired by a later message, or is the message that was replaced.
    create function usage_is_moved(id uuid, partition integer, place bigint) returns boolean
    language sql immutable strict parallel safe
    return substr(uuid_send(id), 7, 2) || substr(uuid_send(id), 11)
      <> substr(int4send(28672 + partition), 3) || substr(int8send(place), 3);

    create function find_events() returns trigger language plpgsql as $$
    begin
      -- In their order, so that two batches that have ids in common cannot deadlock.
      insert into usage_identity (tenant_id, external_id, event_id)
      select tenant_id, external_transaction_id, id from changed
      where original_id is null and external_transaction_id is not null
      order by external_transaction_id collate "C";
      insert into usage_range (tenant_id, partition, first_offset, end_offset, first_id, last_id)
      select tenant_id, partition, min("offset"), max("offset") + 1, min(id::text)::uuid,
        max(id::text)::uuid
      from changed where not usage_is_moved(id, partition, "offset") group by 1, 2;
      return null;
    end $$;
    create trigger find_inserted after insert on usage_event
      referencing new table as changed for each statement execute function find_events();

    -- How far the ranges of what was there are made.
    create table usage_range_move (
      tenant_id text collate "C" not null,
      partition integer not null,
      next_offset bigint not null default 0,
      end_offset bigint not null,
      constraint usage_range_move_pkey primary key (tenant_id, partition)
    );
    select protect_tenant_rows('usage_range_move');

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into fact_move (tenant_id, kind, end_id)
        select tenant, 'external ids', last.id from (
          select id from usage_event where tenant_id = tenant order by id desc limit 1
        ) as last;
        insert into fact_move (tenant_id, kind)
        select tenant, 'places' where exists (select from usage_event where tenant_id = tenant);
        insert into usage_range_move (tenant_id, partition, end_offset)
        select tenant, partition, next_offset from usage_consumer where tenant_id = tenant;
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        delete from fact_move where tenant_id = tenant and kind in ('external ids', 'places');
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    drop trigger find_inserted on usage_event;
    drop function find_events();
    drop function usage_is_moved(uuid, integer, bigint);
    drop table usage_range_move, usage_range, usage_identity;
  `);
}
