/**
 * Facts of usage become partitions by month (docs/decisions/0344), of which the table that is there
 * is the first one. It may be that without being read under a lock if a constraint says up to where
 * it reaches: the month after the next one, so that rating goes on however long an upgrade takes.
 */
const tables = ['usage_event', 'rated_transaction'];

export async function up(knex) {
  for (const table of tables) {
    await knex.raw(`
      do $$
      declare
        tenant text;
        last_id uuid;
        ends timestamp := date_trunc('month', now() at time zone 'UTC') + interval '2 months';
      begin
        -- What has a later time came when a clock was wrong. Tenant by tenant, because row-level
        -- security binds an owner that is no superuser.
        for tenant in select id from public.tenant loop
          perform set_config('app.tenant_id', tenant, true);
          select id into last_id from ${table} where tenant_id = tenant order by id desc limit 1;
          if last_id is not null then
            ends := greatest(ends, date_trunc('month', to_timestamp(
              ('x' || lpad(left(replace(last_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0
            ) at time zone 'UTC') + interval '1 month');
          end if;
        end loop;
        perform set_config('app.tenant_id', '', true);
        execute format('alter table ${table} add constraint ${table}_bound check (id < %L) not valid',
          uuid_at(ends at time zone 'UTC'));
      end $$`);
  }
}

export async function down(knex) {
  for (const table of tables) {
    await knex.raw(`alter table ${table} drop constraint if exists ${table}_bound`);
  }
}
