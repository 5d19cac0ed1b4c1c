/**
 * Totals of usage, a projection of the rated transactions (docs/decisions/0320): each rating
 * transaction leaves what it adds as a row of `usage_delta`, and these are added up behind it. Totals
 * and deltas together are exact at every instant.
 */
export async function up(knex) {
  await knex.raw(`
    -- What charges of one event have in common, but for quantities and amounts: its charges in their
    -- order, each followed by its priced rows. Named by its content.
    create table usage_combination (
      tenant_id text collate "C" not null,
      id uuid not null,
      -- The same without accounts and contracts.
      coarse_id uuid not null,
      constraint usage_combination_pkey primary key (tenant_id, id)
    );
    select protect_tenant_rows('usage_combination');

    create table usage_combination_part (
      tenant_id text collate "C" not null,
      combination_id uuid not null,
      -- Its place in the arrays of usage_total, counted from 1.
      position integer not null,
      is_coarse boolean not null,
      -- The billed account; null in a coarse combination, as is the contract.
      account_id uuid,
      contract_id uuid,
      service_id uuid not null,
      usage_type text not null,
      currency text not null,
      -- Of a priced row, its attribute; null: the whole charge.
      attribute_name text,
      -- Of a charge: whether priced rows follow it.
      has_rows boolean not null,
      constraint usage_combination_part_pkey primary key (tenant_id, combination_id, position)
    );
    create index usage_combination_part_account
      on usage_combination_part (tenant_id, account_id, combination_id) where account_id is not null;
    create index usage_combination_part_coarse
      on usage_combination_part (tenant_id, combination_id) where is_coarse;
    select protect_tenant_rows('usage_combination_part');

    create table usage_total (
      tenant_id text collate "C" not null,
      -- day: by account; coarse hour and coarse day: of all accounts together.
      grain text collate "C" not null,
      combination_id uuid not null,
      start_at timestamptz not null,
      events bigint not null,
      -- By position of the combination's parts.
      quantities numeric[] not null,
      amounts numeric[] not null,
      constraint usage_total_pkey primary key (tenant_id, grain, combination_id, start_at),
      constraint usage_total_grain check (grain in ('day', 'coarse hour', 'coarse day'))
    ) with (fillfactor = 80);
    select protect_tenant_rows('usage_total');

    -- What a transaction has added, until it is added to usage_total: an array of
    -- {combination_id, start_at, events, quantities, amounts}, by hour and account.
    create table usage_delta (
      tenant_id text collate "C" not null,
      id bigint generated always as identity,
      totals jsonb not null,
      constraint usage_delta_pkey primary key (tenant_id, id)
    );
    select protect_platform_rows('usage_delta');

    -- Tenants whose totals are being made from the facts; until then the facts themselves are summed.
    create table usage_total_rebuild (
      tenant_id text collate "C" not null,
      -- The last day that was made; null: none yet.
      made_until date,
      constraint usage_total_rebuild_pkey primary key (tenant_id)
    );
    select protect_platform_rows('usage_total_rebuild');

    -- The id of the n-th charge of an event, counted from 1 (docs/decisions/0040).
    create function usage_charge_id(event_id uuid, number integer) returns uuid
    language sql immutable strict parallel safe
    return (left(event_id::text, 19) || lpad(to_hex(32768 + number), 4, '0')
      || right(event_id::text, 13))::uuid;

    -- A text in a key of several: no two lists of texts have the same key.
    create function key_part(part text) returns text
    language sql immutable parallel safe
    return case when part is null then '-' else octet_length(part)::text || ':' || part end;

    create function add_each(a numeric[], b numeric[]) returns numeric[]
    language sql immutable strict parallel safe
    return array(select x + y from unnest(a, b) with ordinality as pair (x, y, n) order by n);

    -- There may be more usage than a migration has time for: workers make the totals of what is there.
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into usage_total_rebuild (tenant_id)
        select tenant where exists (select from usage_consumer where tenant_id = tenant);
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function add_each(numeric[], numeric[]);
    drop function key_part(text);
    drop function usage_charge_id(uuid, integer);
    drop table usage_total_rebuild, usage_delta, usage_total, usage_combination_part,
      usage_combination;
  `);
}
