/** What tenants want to be told of money and volumes (docs/decisions/0393). */
export async function up(knex) {
  await knex.raw(`
    create table alert (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      account_id uuid,
      contract_id uuid,
      wallet_id uuid,
      service_id uuid,
      -- The name of an attribute of the service.
      attribute text,
      measure text not null,
      period text not null,
      thresholds numeric[] not null,
      -- What was past a threshold in the period of this instant is silent.
      armed_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint alert_pkey primary key (tenant_id, id),
      constraint alert_measure check (measure in ('spend', 'quantity', 'balance'))
    );
    create unique index alert_name on alert (tenant_id, name) where deleted_at is null;
    create index alert_wallet on alert (tenant_id, wallet_id) where deleted_at is null;
    select protect_tenant_rows('alert'), audit_table('alert');

    -- Where a figure stands in a period; made when it moves for the first time in it.
    create table alert_figure (
      tenant_id text collate "C" not null references tenant (id),
      alert_id uuid not null,
      -- Of alerts for each account by itself; else the nil id.
      account_id uuid not null,
      -- Amounts of several currencies are not added.
      currency text not null,
      period_start date not null,
      value numeric not null,
      -- The thresholds that have triggered in the period, or are silent in it.
      fired numeric[] not null default '{}',
      constraint alert_figure_pkey
        primary key (tenant_id, alert_id, account_id, currency, period_start)
    ) with (fillfactor = 70);
    select protect_tenant_rows('alert_figure');
  `);
}

export async function down(knex) {
  await knex.raw('drop table alert_figure, alert');
}
