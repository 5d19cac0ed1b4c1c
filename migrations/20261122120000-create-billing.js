/**
 * Billing runs (docs/decisions/0100 to 0109): numbers of invoices, recurring charges, tax rates, and
 * which payment paid what.
 */
export async function up(knex) {
  await knex.raw(`
    -- Locked by whoever posts, until the commit: so numbers have no gaps.
    create table invoice_counter (
      tenant_id text collate "C" not null references tenant (id),
      next_number bigint not null,
      constraint invoice_counter_pkey primary key (tenant_id)
    ) with (fillfactor = 50);
    select protect_tenant_rows('invoice_counter');

    -- The execution of the billing run that made it.
    alter table invoice
      add column execution_id uuid,
      -- How many rated transactions it claimed.
      add column transaction_count integer;
    create index invoice_execution on invoice (tenant_id, execution_id, id)
      where execution_id is not null;

    alter table invoice_item
      -- Before its one rounding; null of items that no billing run made.
      add column exact_amount numeric,
      add column tax_code text,
      -- Percent.
      add column tax_rate numeric;

    -- What is not billed yet, of each account: however much was billed before.
    create index rated_transaction_unbilled
      on rated_transaction (tenant_id, account_id, transaction_date) where not billed;

    -- Subscription and one-time charges of contract lines, written when they are billed.
    create table recurring_charge (
      tenant_id text collate "C" not null,
      id uuid not null,
      account_id uuid not null,
      master_account_id uuid not null,
      contract_id uuid not null,
      contract_service_id uuid not null,
      service_id uuid not null,
      charge_type text not null,
      usage_type text not null,
      currency text not null,
      -- The charge period; all days of this table are inclusive.
      period_start date not null,
      period_end date not null,
      -- What of it is charged.
      bill_start_date date not null,
      bill_end_date date not null,
      -- Counted from 0 among the charges of line, type, period, account and usage type.
      position integer not null,
      -- Name of the attribute or of the pricing logic.
      name text not null,
      dimension_id uuid,
      description text,
      price_method text,
      volume numeric not null,
      rate numeric,
      -- At 10 places.
      amount numeric not null,
      is_prorated boolean not null,
      tax_code text,
      plan_id uuid not null,
      -- The values that the plan was computed with, as texts.
      dimensions jsonb not null,
      invoice_id uuid not null,
      invoice_item_id uuid not null,
      voided_at timestamptz,
      created_at timestamptz not null default now(),
      constraint recurring_charge_pkey primary key (tenant_id, id),
      constraint recurring_charge_invoice foreign key (tenant_id, invoice_id)
        references invoice (tenant_id, id)
    );
    create unique index recurring_charge_once on recurring_charge
      (tenant_id, contract_service_id, charge_type, period_start, account_id, usage_type, position)
      where voided_at is null;
    create index recurring_charge_invoice_id on recurring_charge (tenant_id, invoice_id);
    select protect_tenant_rows('recurring_charge');

    create table tax_rate (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      -- The taxCode of rate-card rows.
      code text not null,
      name text,
      -- Percent.
      rate numeric not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      deleted_at timestamptz,
      constraint tax_rate_pkey primary key (tenant_id, id),
      constraint tax_rate_range check (rate >= 0 and rate <= 1000)
    );
    create unique index tax_rate_code on tax_rate (tenant_id, code) where deleted_at is null;
    select protect_tenant_rows('tax_rate'), audit_table('tax_rate');

    create table payment_application (
      tenant_id text collate "C" not null,
      id uuid not null,
      payment_id uuid not null,
      invoice_id uuid not null,
      amount numeric not null,
      created_at timestamptz not null default now(),
      constraint payment_application_pkey primary key (tenant_id, id),
      constraint payment_application_once unique (tenant_id, payment_id, invoice_id),
      constraint payment_application_amount check (amount > 0),
      constraint payment_application_payment foreign key (tenant_id, payment_id)
        references payment (tenant_id, id),
      constraint payment_application_invoice foreign key (tenant_id, invoice_id)
        references invoice (tenant_id, id)
    );
    create index payment_application_invoice_id on payment_application (tenant_id, invoice_id);
    select protect_tenant_rows('payment_application'), audit_table('payment_application');

    -- Rows that bill another account than the one that used the service.
    create index rate_card_row_billing_account on rate_card_row (tenant_id, billing_account_id)
      where billing_account_id is not null and deleted_at is null;

    -- An id that names a content and, like a UUIDv7, begins with a time: that of the seed.
    create function seeded_uuid(seed uuid, content text) returns uuid
    language sql immutable parallel safe
    return (
      left(replace(seed::text, '-', ''), 12) || '8' || substr(md5(seed::text || content), 1, 3)
        || '8' || substr(md5(seed::text || content), 4, 15)
    )::uuid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function seeded_uuid(uuid, text);
    drop index rate_card_row_billing_account;
    drop table payment_application, tax_rate, recurring_charge;
    drop index rated_transaction_unbilled;
    alter table invoice_item drop column exact_amount, drop column tax_code, drop column tax_rate;
    drop index invoice_execution;
    alter table invoice drop column execution_id, drop column transaction_count;
    drop table invoice_counter;
  `);
}
