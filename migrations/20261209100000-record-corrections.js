const statuses = `'rated', 'rejected', 'duplicate', 'canceled'`;
const charges = `'transaction'`;

/**
 * Corrections of rated usage (docs/decisions/0371): they add reversals and new charges. What an event
 * was before it was canceled or amended is kept beside it, so that what was known earlier can be told.
 */
export async function up(knex) {
  await knex.raw(`
    create table usage_correction (
      tenant_id text collate "C" not null,
      id uuid not null,
      kind text not null,
      reason text not null,
      actor text,
      execution_id uuid not null,
      -- The event that was canceled or amended; null: a range was rated again.
      event_id uuid,
      -- What was asked for: from, to, accountId, contractId, serviceId.
      scope jsonb not null,
      -- How many events were considered, and how many have other charges now.
      events integer not null,
      changed integer not null,
      -- Events that keep their charges because they can no longer be rated, by code.
      rejected jsonb not null,
      before jsonb not null,
      after jsonb not null,
      accounts jsonb not null,
      created_at timestamptz not null,
      constraint usage_correction_pkey primary key (tenant_id, id),
      constraint usage_correction_kind check (kind in ('cancel', 'amend', 'rerate'))
    );
    select protect_tenant_rows('usage_correction');
    select audit_table('usage_correction');

    -- Which charges were reversed, and which came in their place.
    create table usage_correction_charge (
      tenant_id text collate "C" not null,
      correction_id uuid not null,
      position integer not null,
      event_id uuid not null,
      before_id uuid,
      after_id uuid,
      constraint usage_correction_charge_pkey primary key (tenant_id, correction_id, position)
    );
    select protect_tenant_rows('usage_correction_charge');

    create table usage_event_change (
      tenant_id text collate "C" not null,
      event_id uuid not null,
      -- Counted from 1 for each event.
      number integer not null,
      id uuid not null,
      changed_at timestamptz not null,
      -- Null: a rejected event was dismissed.
      correction_id uuid,
      change text not null,
      change_reason text not null,
      -- The content that the event got; null: it keeps what it had.
      message text,
      -- What it was until then.
      partition integer not null,
      "offset" bigint not null,
      status text not null,
      code text,
      reason text,
      account_id uuid,
      service_id uuid,
      event_at timestamptz,
      workflow_id text,
      run_id uuid not null,
      processed_at timestamptz not null,
      constraint usage_event_change_pkey primary key (tenant_id, event_id, number),
      constraint usage_event_change_kind check (change in ('cancel', 'amend'))
    );
    select protect_tenant_rows('usage_event_change');
    select audit_table('usage_event_change');

    alter table usage_consumer add column canceled bigint not null default 0;

    alter table usage_event
      drop constraint usage_event_status,
      add constraint usage_event_status
        check (status in (${statuses})) not valid;
    alter table usage_day
      drop constraint usage_day_kind,
      add constraint usage_day_kind
        check (kind in (${statuses}, ${charges})) not valid;
  `);
}

export async function down(knex) {
  await knex.raw(`
    alter table usage_day
      drop constraint usage_day_kind,
      add constraint usage_day_kind
        check (kind in ('transaction', 'rated', 'rejected', 'duplicate')) not valid;
    alter table usage_event
      drop constraint usage_event_status,
      add constraint usage_event_status
        check (status in ('rated', 'rejected', 'duplicate')) not valid;
    alter table usage_consumer drop column canceled;
    drop table usage_event_change, usage_correction_charge, usage_correction;
  `);
}
