/**
 * Invoices, their items and their stored files (document 1, sections 2.2 and 4.6). Billing runs
 * write them (docs/decisions/0071).
 */
export async function up(knex) {
  await knex.raw(`
    create table invoice (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      invoice_no text not null,
      invoice_date date not null,
      due_date date,
      -- Both days are part of the period.
      period_start date,
      period_end date,
      account_id uuid not null,
      contract_id uuid,
      invoice_status text not null,
      invoice_type text not null,
      currency text not null,
      -- The sums of the items; the total is amount + tax_amount.
      amount numeric not null,
      tax_amount numeric not null default 0,
      -- What of the total is not paid; of a void invoice 0.
      balance numeric not null,
      payment_status text not null default 'Unpaid',
      approval_status text not null default 'Approved',
      voided_at timestamptz,
      void_reason text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint invoice_pkey primary key (tenant_id, id),
      constraint invoice_account foreign key (tenant_id, account_id)
        references account (tenant_id, id),
      constraint invoice_contract foreign key (tenant_id, contract_id)
        references contract (tenant_id, id),
      constraint invoice_period check (period_start <= period_end),
      constraint invoice_balance check (
        balance >= least(0, amount + tax_amount) and balance <= greatest(0, amount + tax_amount)
      ),
      constraint invoice_void check (
        (voided_at is not null) = (invoice_status = 'Void') and (voided_at is null or balance = 0)
      )
    );
    -- A void invoice keeps its number.
    create unique index invoice_no on invoice (tenant_id, invoice_no);
    create index invoice_date on invoice (tenant_id, invoice_date desc, id desc);
    create index invoice_account
      on invoice (tenant_id, account_id, invoice_date desc, id desc);
    -- Payments are applied to the oldest due first.
    create index invoice_open on invoice (tenant_id, account_id, due_date, id) where balance <> 0;
    select protect_tenant_rows('invoice'), audit_table('invoice');

    create table invoice_item (
      tenant_id text collate "C" not null,
      id uuid not null,
      invoice_id uuid not null,
      -- Counted from 0 in the invoice.
      position integer not null,
      service_id uuid,
      -- As they were when it was billed: an invoice does not change with the catalog.
      service_name text,
      service_code text,
      contract_service_id uuid,
      -- The priceable attribute; null where pricing logic made the amount.
      dimension_id uuid,
      description text,
      volume numeric not null,
      rate_per_unit numeric,
      -- Rounded once to the currency's minor unit.
      amount numeric not null,
      tax numeric not null default 0,
      balance numeric not null,
      charge_type text not null,
      price_method_type text,
      -- Both days are billed.
      bill_start_date date,
      bill_end_date date,
      created_at timestamptz not null default now(),
      constraint invoice_item_pkey primary key (tenant_id, id),
      constraint invoice_item_position unique (tenant_id, invoice_id, position),
      constraint invoice_item_invoice foreign key (tenant_id, invoice_id)
        references invoice (tenant_id, id),
      constraint invoice_item_dates check (bill_start_date <= bill_end_date),
      constraint invoice_item_balance check (
        balance >= least(0, amount + tax) and balance <= greatest(0, amount + tax)
      )
    );
    create index invoice_item_line on invoice_item (tenant_id, contract_service_id)
      where contract_service_id is not null;
    select protect_tenant_rows('invoice_item'), audit_table('invoice_item');

    -- Apart from the invoice, so that lists never read past the bytes.
    create table invoice_document (
      tenant_id text collate "C" not null,
      id uuid not null,
      invoice_id uuid not null,
      file_name text not null,
      content_type text not null,
      bytes bytea not null,
      created_at timestamptz not null default now(),
      constraint invoice_document_pkey primary key (tenant_id, id),
      constraint invoice_document_type unique (tenant_id, invoice_id, content_type),
      constraint invoice_document_invoice foreign key (tenant_id, invoice_id)
        references invoice (tenant_id, id)
    );
    -- PDFs are compressed already.
    alter table invoice_document alter column bytes set storage external;
    select protect_tenant_rows('invoice_document');
  `);
}

export async function down(knex) {
  await knex.raw('drop table invoice_document, invoice_item, invoice');
}
