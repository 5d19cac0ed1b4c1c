/** The catalog: services, attributes, rate cards and pricing logic (document 1, section 4.1). */
export async function up(knex) {
  await knex.raw(`
    create table service (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text not null,
      label text,
      code text,
      description text,
      currency text,
      service_type text not null default 'Usage',
      service_status text not null default 'Active',
      approval_status text not null default 'Draft',
      charge_frequency text,
      billing_frequency text,
      rating_version bigint not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint service_pkey primary key (tenant_id, id)
    );
    create unique index service_name on service (tenant_id, name) where deleted_at is null;
    create index service_code on service (tenant_id, code) where deleted_at is null;
    select protect_tenant_rows('service'), audit_table('service');

    create table pricing_logic (
      tenant_id text collate "C" not null,
      id uuid not null,
      service_id uuid not null,
      seq_no integer not null,
      name text not null,
      price_output text not null,
      transaction_dimension text not null,
      usage_type text not null default 'Charge',
      charge_type text,
      steps jsonb not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint pricing_logic_pkey primary key (tenant_id, id),
      constraint pricing_logic_service foreign key (tenant_id, service_id)
        references service (tenant_id, id)
    );
    create index pricing_logic_service on pricing_logic (tenant_id, service_id, seq_no)
      where deleted_at is null;
    select protect_tenant_rows('pricing_logic'), audit_table('pricing_logic');
  `);
}

export async function down(knex) {
  await knex.raw('drop table pricing_logic, service');
}
