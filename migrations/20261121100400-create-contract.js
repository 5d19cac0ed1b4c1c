/** Contracts and their lines (document 1, section 4.2). */
export async function up(knex) {
  await knex.raw(`
    create table contract (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      name text,
      number text not null,
      start_date date,
      end_date date,
      currency text,
      master_account_id uuid not null,
      po_number text,
      total_price numeric,
      description text,
      approval_status text not null default 'Draft',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint contract_pkey primary key (tenant_id, id),
      constraint contract_account foreign key (tenant_id, master_account_id)
        references account (tenant_id, id)
    );
    create unique index contract_number on contract (tenant_id, number) where deleted_at is null;
    create index contract_account on contract (tenant_id, master_account_id)
      where deleted_at is null;
    select protect_tenant_rows('contract'), audit_table('contract');

    create table contract_service (
      tenant_id text collate "C" not null,
      id uuid not null,
      contract_id uuid not null,
      service_id uuid not null,
      service_instance_id text,
      start_date date,
      end_date date,
      termination_date date,
      termination_message text,
      charge_frequency text,
      billing_frequency text,
      dimension_values jsonb,
      account_map jsonb,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint contract_service_pkey primary key (tenant_id, id),
      constraint contract_service_contract foreign key (tenant_id, contract_id)
        references contract (tenant_id, id),
      constraint contract_service_service foreign key (tenant_id, service_id)
        references service (tenant_id, id)
    );
    create index contract_service_contract on contract_service (tenant_id, contract_id, id)
      where deleted_at is null;
    create index contract_service_service on contract_service (tenant_id, service_id)
      where deleted_at is null;
    create index contract_service_instance on contract_service (tenant_id, service_instance_id)
      where deleted_at is null;
    select protect_tenant_rows('contract_service'), audit_table('contract_service');
  `);
}

export async function down(knex) {
  await knex.raw('drop table contract_service, contract');
}
