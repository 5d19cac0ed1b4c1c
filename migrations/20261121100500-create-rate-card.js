/**
 * Attributes and rate cards. Each belongs to a service (the catalog) or to a contract service (its
 * own dimensions and exception prices): `service_id` or `contract_service_id`, never both.
 */
export async function up(knex) {
  await knex.raw(`
    create table attribute (
      tenant_id text collate "C" not null,
      id uuid not null,
      service_id uuid,
      contract_service_id uuid,
      kind text not null,
      position integer not null,
      name text not null,
      label text,
      dimension_data_type text not null,
      is_contract_input boolean not null default false,
      is_meter_dimension boolean not null default false,
      is_proration boolean,
      meter_reset_frequency text,
      dim_values jsonb not null default '[]',
      dimension_val_text text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint attribute_pkey primary key (tenant_id, id),
      constraint attribute_kind check (kind in ('PRICEABLE', 'INPUT', 'TRANSACTION')),
      constraint attribute_one_owner check (num_nonnulls(service_id, contract_service_id) = 1),
      constraint attribute_service foreign key (tenant_id, service_id)
        references service (tenant_id, id),
      constraint attribute_contract_service foreign key (tenant_id, contract_service_id)
        references contract_service (tenant_id, id)
    );
    create unique index attribute_service_name on attribute (tenant_id, service_id, name)
      where deleted_at is null and service_id is not null;
    create unique index attribute_line_name on attribute (tenant_id, contract_service_id, name)
      where deleted_at is null and contract_service_id is not null;
    select protect_tenant_rows('attribute'), audit_table('attribute');

    create table rate_card (
      tenant_id text collate "C" not null,
      id uuid not null,
      service_id uuid,
      contract_service_id uuid,
      currency text not null,
      version_no integer not null,
      is_current boolean not null,
      from_date date not null,
      to_date date,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint rate_card_pkey primary key (tenant_id, id),
      constraint rate_card_one_owner check (num_nonnulls(service_id, contract_service_id) = 1),
      constraint rate_card_service foreign key (tenant_id, service_id)
        references service (tenant_id, id),
      constraint rate_card_contract_service foreign key (tenant_id, contract_service_id)
        references contract_service (tenant_id, id)
    );
    create unique index rate_card_service_current on rate_card (tenant_id, service_id, currency)
      where deleted_at is null and is_current and service_id is not null;
    create unique index rate_card_line_current
      on rate_card (tenant_id, contract_service_id, currency)
      where deleted_at is null and is_current and contract_service_id is not null;
    create unique index rate_card_service_version
      on rate_card (tenant_id, service_id, currency, version_no)
      where deleted_at is null and service_id is not null;
    create unique index rate_card_line_version
      on rate_card (tenant_id, contract_service_id, currency, version_no)
      where deleted_at is null and contract_service_id is not null;
    select protect_tenant_rows('rate_card'), audit_table('rate_card');

    -- The rates of a row are those of its price method, tiers included, as JSON with the decimals
    -- as text: JSON numbers would lose digits on their way out of the database.
    create table rate_card_row (
      tenant_id text collate "C" not null,
      id uuid not null,
      rate_card_id uuid not null,
      position integer not null,
      attribute_id uuid not null,
      attribute_name text not null,
      label text not null,
      description text,
      dynamic_description text,
      tax_code text,
      usage_type text,
      billing_account_id uuid,
      price_method text not null,
      rates jsonb not null,
      attribute_values jsonb not null default '[]',
      created_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint rate_card_row_pkey primary key (tenant_id, id),
      constraint rate_card_row_card foreign key (tenant_id, rate_card_id)
        references rate_card (tenant_id, id),
      constraint rate_card_row_billing_account foreign key (tenant_id, billing_account_id)
        references account (tenant_id, id)
    );
    create index rate_card_row_card on rate_card_row (tenant_id, rate_card_id, position);
    create index rate_card_row_attribute on rate_card_row (tenant_id, attribute_id)
      where deleted_at is null;
    select protect_tenant_rows('rate_card_row'), audit_table('rate_card_row');
  `);
}

export async function down(knex) {
  await knex.raw('drop table rate_card_row, rate_card, attribute');
}
