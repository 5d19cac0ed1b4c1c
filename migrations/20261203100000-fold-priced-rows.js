/**
 * The priced rows of a charge are part of it (docs/decisions/0321): a row of `rated_dimension` cost as
 * much as the charge. What charges of before have there is moved by workers, in portions.
 */
export async function up(knex) {
  await knex.raw(`
    -- What a row of a recorded plan's card has, for statements: from the plan, by trigger.
    create table rating_plan_row (
      tenant_id text collate "C" not null,
      plan_id uuid not null,
      rate_card_row_id uuid not null,
      dimension_id uuid not null,
      dimension_name text not null,
      price_method_type text not null,
      constraint rating_plan_row_pkey primary key (tenant_id, plan_id, rate_card_row_id)
    );
    select protect_tenant_rows('rating_plan_row');

    create function keep_plan_rows() returns trigger language plpgsql as $$
    begin
      insert into rating_plan_row
        (tenant_id, plan_id, rate_card_row_id, dimension_id, dimension_name, price_method_type)
      select new.tenant_id, new.id, (row ->> 'id')::uuid, (row ->> 'attributeId')::uuid,
        row ->> 'attributeName', row ->> 'priceMethod'
      from jsonb_array_elements(coalesce(new.plan -> 'card' -> 'rows', '[]')) as row
      on conflict do nothing;
      return null;
    end $$;
    create trigger keep_plan_rows after insert on rating_plan
      for each row execute function keep_plan_rows();

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into rating_plan_row
          (tenant_id, plan_id, rate_card_row_id, dimension_id, dimension_name, price_method_type)
        select plan.tenant_id, plan.id, (row ->> 'id')::uuid, (row ->> 'attributeId')::uuid,
          row ->> 'attributeName', row ->> 'priceMethod'
        from rating_plan as plan
        cross join jsonb_array_elements(coalesce(plan.plan -> 'card' -> 'rows', '[]')) as row
        where plan.tenant_id = tenant;
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;

    -- What workers move from the form that it was written in before, by tenant and kind.
    create table fact_move (
      tenant_id text collate "C" not null,
      kind text collate "C" not null,
      moved bigint not null default 0,
      -- When there was nothing left to move.
      done_at timestamptz,
      constraint fact_move_pkey primary key (tenant_id, kind)
    ) with (fillfactor = 50);
    select protect_platform_rows('fact_move');

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into fact_move (tenant_id, kind)
        select tenant, 'priced rows' where exists (
          select from rated_dimension where tenant_id = tenant
        );
      end loop;
      perform set_config('app.tenant_id', '', true);
    end $$;

    -- Most charges have one priced row: these columns are it.
    alter table rated_transaction
      add column rate_card_row_id uuid,
      add column rate numeric,
      -- Null: the quantity and the amount of the charge.
      add column row_volume numeric,
      add column row_amount numeric,
      -- Which counter the volume was added to, and what it held before; null when not metered.
      add column counter_id uuid,
      add column counter_before numeric,
      -- All other charges: an array of {row, volume, rate, amount, counter, before, sharedVolume,
      -- sharedAmount} in their order, with {dimension, name, method} where the plan has others. Both null: the rows are in rated_dimension.
      add column priced_rows jsonb;
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
    insert into rated_dimension (tenant_id, transaction_id, position, dimension_id, dimension_name,
      rate_card_row_id, volume, rate, calc_amount, currency, price_method_type, item_type,
      bill_start_date, bill_end_date, counter_id, counter_before, shared_volume, shared_amount)
    select charge.tenant_id, charge.id, each.position, coalesce(each.dimension, row.dimension_id),
      coalesce(each.name, row.dimension_name), each.row, each.volume, each.rate, each.amount, charge.currency,
      coalesce(each.method, row.price_method_type), charge.charge_type, charge.transaction_date, charge.transaction_date,
      each.counter, each.before, each."sharedVolume", each."sharedAmount"
    from rated_transaction as charge cross join lateral (
      select 0 as position, charge.rate_card_row_id as row,
        coalesce(charge.row_volume, charge.quantity) as volume, charge.rate,
        coalesce(charge.row_amount, charge.amount) as amount, charge.counter_id as counter,
        charge.counter_before as before, null::numeric as "sharedVolume",
        null::numeric as "sharedAmount", null::uuid as dimension, null::text as name,
        null::text as method
      where charge.rate_card_row_id is not null
      union all
      select ordinality - 1, row, volume, rate, amount, counter, before, "sharedVolume",
        "sharedAmount", dimension, name, method
      from rows from (jsonb_to_recordset(charge.priced_rows) as (row uuid, volume numeric,
        rate numeric, amount numeric, counter uuid, before numeric, "sharedVolume" numeric,
        "sharedAmount" numeric, dimension uuid, name text, method text)) with ordinality
      where charge.priced_rows is not null
    ) as each left join rating_plan_row as row
      on row.tenant_id = charge.tenant_id and row.plan_id = charge.plan_id
      and row.rate_card_row_id = each.row
    where charge.tenant_id = tenant;
    end loop;
    perform set_config('app.tenant_id', '', true);
    end $$;
    alter table rated_transaction drop column rate_card_row_id, drop column rate,
      drop column row_volume, drop column row_amount, drop column counter_id,
      drop column counter_before, drop column priced_rows;
    drop trigger keep_plan_rows on rating_plan;
    drop function keep_plan_rows();
    drop table rating_plan_row, fact_move;
  `);
}
