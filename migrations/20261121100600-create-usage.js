/**
 * The usage log (the broker on PostgreSQL), usage events, what they were rated to, and counters.
 *
 * Tables that grow with usage have few, narrow indexes that rise with time (UUIDv7 ids), and no
 * foreign keys to accounts or services: those are never removed physically, and the rating
 * transaction has just read them.
 */
export async function up(knex) {
  await knex.raw(`
    create table broker_partition (
      tenant_id text collate "C" not null,
      partition integer not null,
      next_offset bigint not null,
      primary key (tenant_id, partition)
    ) with (fillfactor = 50);
    select protect_platform_rows('broker_partition');

    -- The message is kept as the text that came: JSON may hold what text columns cannot.
    create table broker_record (
      tenant_id text collate "C" not null,
      partition integer not null,
      "offset" bigint not null,
      key text,
      org_id text,
      message text not null,
      received_at timestamptz not null default now(),
      primary key (tenant_id, partition, "offset")
    );
    select protect_platform_rows('broker_record');

    -- How far the consumer of a partition is, and what became of the events before that.
    create table usage_consumer (
      tenant_id text collate "C" not null,
      partition integer not null,
      next_offset bigint not null default 0,
      rated bigint not null default 0,
      duplicate bigint not null default 0,
      rejected bigint not null default 0,
      -- What the rated ones were rated to: the total of the list of rated transactions.
      transactions bigint not null default 0,
      primary key (tenant_id, partition)
    ) with (fillfactor = 50);
    select protect_platform_rows('usage_consumer');

    create table usage_event (
      tenant_id text collate "C" not null,
      id uuid not null,
      partition integer not null,
      "offset" bigint not null,
      org_id text,
      external_transaction_id text,
      status text not null,
      code text,
      reason text,
      account_id uuid,
      service_id uuid,
      event_at timestamptz,
      message text not null,
      -- The event that this one repeats or contradicts.
      original_id uuid,
      workflow_id text not null,
      run_id uuid not null,
      received_at timestamptz not null,
      processed_at timestamptz not null default now(),
      constraint usage_event_pkey primary key (tenant_id, id),
      constraint usage_event_status check (status in ('rated', 'rejected', 'duplicate'))
    );
    -- One original for each external id, for ever.
    create unique index usage_event_original
      on usage_event (tenant_id, external_transaction_id) where original_id is null;
    create unique index usage_event_offset on usage_event (tenant_id, partition, "offset");
    create index usage_event_not_rated on usage_event (tenant_id, status, id)
      where status <> 'rated';
    select protect_tenant_rows('usage_event');

    -- What a charge was computed from: the card version, pricing logic and attributes in force,
    -- stored once for each distinct content.
    create table rating_plan (
      tenant_id text collate "C" not null,
      id uuid not null,
      plan jsonb not null,
      created_at timestamptz not null default now(),
      primary key (tenant_id, id)
    );
    select protect_tenant_rows('rating_plan');

    -- The ids follow from those of the events: the primary key also says that an event is charged
    -- once, and finds its charges.
    create table rated_transaction (
      tenant_id text collate "C" not null,
      id uuid not null,
      usage_event_id uuid not null,
      external_tran_id text not null,
      transaction_date date not null,
      account_id uuid not null,
      master_account_id uuid not null,
      service_id uuid not null,
      service_instance_id text,
      contract_id uuid,
      contract_service_id uuid,
      amount numeric not null,
      discount numeric not null default 0,
      tax_amount numeric not null default 0,
      quantity numeric not null,
      currency text not null,
      usage_type text not null,
      charge_type text not null,
      billed boolean not null default false,
      plan_id uuid not null,
      rated_at timestamptz not null default now(),
      constraint rated_transaction_pkey primary key (tenant_id, id)
    );
    create index rated_transaction_date on rated_transaction (tenant_id, transaction_date, id);
    create index rated_transaction_account
      on rated_transaction (tenant_id, account_id, transaction_date, id);
    -- One for each event, usage type and billed account (0-decisions.md section 2, rule 12).
    select protect_tenant_rows('rated_transaction');

    create table rated_dimension (
      tenant_id text collate "C" not null,
      transaction_id uuid not null,
      position smallint not null,
      dimension_id uuid not null,
      dimension_name text not null,
      rate_card_row_id uuid not null,
      volume numeric not null,
      rate numeric not null,
      calc_amount numeric not null,
      currency text not null,
      price_method_type text not null,
      item_type text not null,
      bill_start_date date not null,
      bill_end_date date not null,
      is_prorated boolean not null default false,
      -- Which counter the volume was added to, and what it held before; null when not metered.
      counter_id uuid,
      counter_before numeric,
      constraint rated_dimension_pkey primary key (tenant_id, transaction_id, position)
    );
    select protect_tenant_rows('rated_dimension');

    create table usage_counter (
      tenant_id text collate "C" not null,
      -- Named by its content: owner, service, attribute, frequency and period.
      id uuid not null,
      owner_type text not null,
      owner_id uuid not null,
      service_id uuid not null,
      attribute_name text not null,
      period text not null,
      period_start date,
      period_end date,
      value numeric not null,
      constraint usage_counter_pkey primary key (tenant_id, id)
    ) with (fillfactor = 70);
    select protect_tenant_rows('usage_counter');

    create table execution (
      tenant_id text collate "C" not null,
      id uuid not null,
      workflow text not null,
      workflow_id text not null,
      run_id text not null,
      status text not null,
      actor text,
      input jsonb,
      output jsonb,
      error jsonb,
      started_at timestamptz not null,
      completed_at timestamptz,
      constraint execution_pkey primary key (tenant_id, id)
    );
    create unique index execution_run on execution (tenant_id, workflow_id, run_id);
    select protect_tenant_rows('execution');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table execution, usage_counter, rated_dimension, rated_transaction, rating_plan,
      usage_event, usage_consumer, broker_record, broker_partition
  `);
}
