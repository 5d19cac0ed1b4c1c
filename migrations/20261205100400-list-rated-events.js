/**
 * Rated events by account and by service, a projection (docs/decisions/0343): the ids of events are
 * kept in groups instead of as an entry of an index for each. What a statement rates waits in a row
 * of `usage_unlisted` until workers group it; both together are exact at every instant.
 *
 * Triggers write what waits, whichever version of the product rates. Workers list what is there.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_list (
      tenant_id text collate "C" not null,
      -- Of which column of the event the key is: account or service.
      kind text collate "C" not null,
      key uuid not null,
      -- The lowest and the highest of its ids, which other groups of the key may have between them.
      first_id uuid not null,
      last_id uuid not null,
      events integer not null,
      ids uuid[] not null,
      constraint usage_list_pkey primary key (tenant_id, kind, key, last_id),
      constraint usage_list_kind check (kind in ('account', 'service'))
    );
    select protect_tenant_rows('usage_list');

    create table usage_unlisted (
      tenant_id text collate "C" not null,
      id bigint generated always as identity,
      added_at timestamptz not null default now(),
      events integer not null,
      ids uuid[] not null,
      account_ids uuid[] not null,
      service_ids uuid[] not null,
      constraint usage_unlisted_pkey primary key (tenant_id, id)
    );
    select protect_platform_rows('usage_unlisted');

    create function list_rated() returns trigger language plpgsql as $$
    begin
      insert into usage_unlisted (tenant_id, events, ids, account_ids, service_ids)
      select tenant_id, count(*), array_agg(id), array_agg(account_id), array_agg(service_id)
      from changed where status = 'rated' group by tenant_id;
      return null;
    end $$;
    create function list_rated_again() returns trigger language plpgsql as $$
    begin
      insert into usage_unlisted (tenant_id, events, ids, account_ids, service_ids)
      select tenant_id, count(*), array_agg(id), array_agg(changed.account_id),
        array_agg(changed.service_id)
      from changed join was using (tenant_id, id)
      where changed.status = 'rated' and was.status <> 'rated' group by tenant_id;
      return null;
    end $$;
    create trigger list_inserted after insert on usage_event
      referencing new table as changed for each statement execute function list_rated();
    create trigger list_changed after update on usage_event
      referencing old table as was new table as changed
      for each statement execute function list_rated_again();

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into fact_move (tenant_id, kind)
        select tenant, 'lists' where exists (select from usage_event where tenant_id = tenant);
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
        delete from fact_move where tenant_id = tenant and kind = 'lists';
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    drop trigger list_inserted on usage_event;
    drop trigger list_changed on usage_event;
    drop function list_rated();
    drop function list_rated_again();
    drop table usage_unlisted, usage_list;
  `);
}
