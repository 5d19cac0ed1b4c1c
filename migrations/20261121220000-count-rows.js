/**
 * How many rows that exist each tenant has in the tables that are listed as a whole: a list shows
 * its exact total, and counting 100,000 rows for each page would be slow (docs/decisions/0077).
 */
const listed = ['account', 'service', 'contract', 'payment', 'wallet', 'invoice'];
/** Of these rows are deleted softly; an invoice is never deleted. */
const isSoft = (table) => table !== 'invoice';

export async function up(knex) {
  await knex.raw(`
    -- Several rows for a table: a transaction takes one that no other transaction holds, and adds
    -- one when all are held. So writers never wait for one another, and cannot deadlock here.
    create table row_count (
      tenant_id text collate "C" not null,
      table_name text collate "C" not null,
      id bigint generated always as identity,
      total bigint not null,
      constraint row_count_pkey primary key (tenant_id, table_name, id)
    ) with (fillfactor = 50);
    select protect_tenant_rows('row_count');

    create function add_row_count(tenant text, counted text, change bigint)
    returns void language plpgsql as $$
    begin
      if change = 0 then return; end if;
      update row_count set total = total + change
      where tenant_id = tenant and table_name = counted and id = (
        select id from row_count where tenant_id = tenant and table_name = counted
        order by id limit 1 for update skip locked);
      if not found then
        insert into row_count (tenant_id, table_name, total) values (tenant, counted, change);
      end if;
    end $$;

    -- Of whole statements: the argument says whether rows are deleted softly.
    create function count_inserted() returns trigger language plpgsql as $$
    begin
      if tg_argv[0] = 'soft' then
        perform add_row_count(tenant_id, tg_table_name, count(*))
        from changed where deleted_at is null group by tenant_id;
      else
        perform add_row_count(tenant_id, tg_table_name, count(*)) from changed group by tenant_id;
      end if;
      return null;
    end $$;

    create function count_removed() returns trigger language plpgsql as $$
    begin
      if tg_argv[0] = 'soft' then
        perform add_row_count(tenant_id, tg_table_name, -count(*))
        from changed where deleted_at is null group by tenant_id;
      else
        perform add_row_count(tenant_id, tg_table_name, -count(*)) from changed group by tenant_id;
      end if;
      return null;
    end $$;

    create function count_soft_deleted() returns trigger language plpgsql as $$
    begin
      perform add_row_count(
        new.tenant_id, tg_table_name, case when new.deleted_at is null then 1 else -1 end);
      return null;
    end $$;

    create function count_rows(target regclass, is_soft boolean)
    returns void language plpgsql as $$
    declare
      how text := case when is_soft then 'soft' else 'hard' end;
      tenant text;
    begin
      execute format('create trigger count_inserted after insert on %s
        referencing new table as changed for each statement
        execute function count_inserted(%L)', target, how);
      execute format('create trigger count_removed after delete on %s
        referencing old table as changed for each statement
        execute function count_removed(%L)', target, how);
      if is_soft then
        execute format('create trigger count_soft_deleted after update of deleted_at on %s
          for each row when ((old.deleted_at is null) <> (new.deleted_at is null))
          execute function count_soft_deleted()', target);
      end if;
      -- The rows that are there. Tenant by tenant, because row-level security binds an owner that
      -- is no superuser.
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        execute format('select add_row_count($1, %L, count(*)) from %s where tenant_id = $1 %s',
          target::text, target, case when is_soft then 'and deleted_at is null' end) using tenant;
      end loop;
    end $$;
  `);
  for (const table of listed) {
    await knex.raw('select count_rows(?::regclass, ?)', [table, isSoft(table)]);
  }
}

export async function down(knex) {
  for (const table of listed) {
    await knex.raw(`
      drop trigger count_inserted on ${table};
      drop trigger count_removed on ${table};
      drop trigger if exists count_soft_deleted on ${table};
    `);
  }
  await knex.raw(`
    drop function count_rows(regclass, boolean);
    drop function count_inserted();
    drop function count_removed();
    drop function count_soft_deleted();
    drop function add_row_count(text, text, bigint);
    drop table row_count;
  `);
}
