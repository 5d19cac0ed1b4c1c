/**
 * The usage log keeps messages in groups, which PostgreSQL compresses together, and nothing else keeps
 * them (docs/decisions/0322). `broker_record` has those of before.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_message (
      tenant_id text collate "C" not null,
      partition integer not null,
      -- Of the first message, and after the last one: at most 32.
      first_offset bigint not null,
      end_offset bigint not null,
      -- JSON texts, each as it came, joined by U+001E, which JSON writes as an escape.
      messages text not null,
      -- JSON arrays with a value for each message; null where none has one.
      keys text,
      org_ids text,
      traces text,
      received_at timestamptz not null default now(),
      constraint usage_message_pkey primary key (tenant_id, partition, first_offset)
    ) with (toast_tuple_target = 2400);
    select protect_platform_rows('usage_message');

    -- Null: the log has it, at the event's partition and offset.
    alter table usage_event alter column message drop not null;

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into fact_move (tenant_id, kind)
        select tenant, 'messages' where exists (select from usage_event where tenant_id = tenant);
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;

    -- A version that does not know this table must not take its messages for lost.
    create function keep_usage_messages() returns trigger language plpgsql as $$
    begin
      if exists (
        select from usage_message
        where tenant_id = new.tenant_id and partition = new.partition
          and first_offset < new.end_offset and first_offset > new.first_offset - 32
          and end_offset > new.first_offset
      ) then
        raise exception 'the usage log has messages of partition % from % to %', new.partition,
          new.first_offset, new.end_offset;
      end if;
      return new;
    end $$;
    create trigger keep_usage_messages before insert on lost_usage_range
      for each row execute function keep_usage_messages();
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
        insert into broker_record
          (tenant_id, partition, "offset", key, org_id, trace, message, received_at)
        select tenant_id, partition, first_offset + number - 1, keys::jsonb ->> (number - 1)::integer,
          org_ids::jsonb ->> (number - 1)::integer, traces::jsonb ->> (number - 1)::integer, message,
          received_at
        from usage_message cross join unnest(string_to_array(messages, U&'\\001E'))
          with ordinality as each (message, number)
        where tenant_id = tenant;
        update usage_event as event set message = record.message
        from broker_record as record
        where event.tenant_id = tenant and event.message is null and record.tenant_id = tenant
          and record.partition = event.partition and record."offset" = event."offset";
        delete from fact_move where tenant_id = tenant and kind = 'messages';
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    drop trigger keep_usage_messages on lost_usage_range;
    drop function keep_usage_messages();
    drop table usage_message;
    alter table usage_event alter column message set not null;
  `);
}
