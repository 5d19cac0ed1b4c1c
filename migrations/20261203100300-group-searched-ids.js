/**
 * External ids are searched in groups (docs/decisions/0323): their trigrams cost each event more than
 * all that is kept of it.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_search (
      tenant_id text collate "C" not null,
      id uuid not null default gen_random_uuid(),
      -- A JSON array of external ids of rated events, at most 32.
      external_ids text not null,
      constraint usage_search_pkey primary key (tenant_id, id)
    );
    select protect_tenant_rows('usage_search');
    do $$ begin
      create index usage_search_ids on usage_search using gin (external_ids gin_trgm_ops, tenant_id);
    exception when undefined_object then
      raise notice 'no pg_trgm and btree_gin: searches will read all groups of a tenant';
    end $$;

    -- The last charge whose id is in a group, and before which that ends: rating groups the ids of
    -- later ones. An hour for processes of the version before, which do not.
    alter table fact_move add column last_id uuid, add column end_id uuid;
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into fact_move (tenant_id, kind, end_id)
        select tenant, 'searched ids', (lpad(to_hex(
          (extract(epoch from now() + interval '1 hour') * 1000)::bigint), 12, '0')
          || '70008000000000000000')::uuid
        where exists (
          select from rated_transaction where tenant_id = tenant
        );
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
        delete from fact_move where tenant_id = tenant and kind = 'searched ids';
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    alter table fact_move drop column last_id, drop column end_id;
    drop table usage_search;
  `);
}
