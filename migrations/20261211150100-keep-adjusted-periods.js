/**
 * Periods that billing runs have brought to what was agreed, also where nothing had to be billed for it, with
 * the amount that was agreed then: what is corrected later comes to the same, and what was billed before an
 * adjustment was made stays as it is (docs/decisions/0425).
 */
export async function up(knex) {
  await knex.raw(`
    create table adjusted_period (
      tenant_id text collate "C" not null references tenant (id),
      adjustment_id uuid not null,
      -- The billed account.
      account_id uuid not null,
      period_start date not null,
      value numeric not null,
      settled_at timestamptz not null default now(),
      constraint adjusted_period_pkey
        primary key (tenant_id, account_id, adjustment_id, period_start)
    );
    select protect_tenant_rows('adjusted_period');

    -- As the owner, whom row-level security holds to a tenant.
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into adjusted_period (tenant_id, adjustment_id, account_id, period_start, value)
        select distinct on (adjustment_id, account_id, period_start)
          tenant_id, adjustment_id, account_id, period_start, value
        from adjustment_charge where tenant_id = tenant
        order by adjustment_id, account_id, period_start, created_at desc;
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw('drop table adjusted_period');
}
