/**
 * What rating adds to the totals of usage waits as arrays instead of JSON (docs/decisions/0342): so
 * much more may wait without an answer taking longer, and a total is written less often. What
 * `usage_delta` has is added up beside it.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_change (
      tenant_id text collate "C" not null,
      id bigint generated always as identity,
      added_at timestamptz not null default now(),
      -- Of the arrays: a value for each part of each combination and hour that a transaction has added to.
      parts integer not null,
      combination_ids uuid[] not null,
      positions smallint[] not null,
      start_ats timestamptz[] not null,
      events bigint[] not null,
      quantities numeric[] not null,
      amounts numeric[] not null,
      constraint usage_change_pkey primary key (tenant_id, id)
    );
    select protect_platform_rows('usage_change');
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
        insert into usage_delta (tenant_id, totals)
        select tenant, jsonb_agg(jsonb_build_object('combination_id', combination_id,
          'start_at', start_at, 'events', events, 'quantities', quantities, 'amounts', amounts))
        from (
          select change.id, each.combination_id, each.start_at, max(each.events) as events,
            array_agg(each.quantity order by each.position) as quantities,
            array_agg(each.amount order by each.position) as amounts
          from usage_change as change cross join unnest(combination_ids, positions, start_ats,
            change.events, change.quantities, change.amounts)
            as each (combination_id, position, start_at, events, quantity, amount)
          where change.tenant_id = tenant group by 1, 2, 3
        ) as delta group by id;
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;
    drop table usage_change;
  `);
}
