/**
 * Webhooks: who wants to be told of what, the outbox of events with a delivery for each webhook that
 * wants one, and the attempts to deliver (document 2, section 6; DESIGN.md, section 7).
 *
 * Deliveries refer to webhooks without a foreign key: recording an event must neither wait for nor
 * fail by somebody who deletes a webhook at that moment.
 */
export async function up(knex) {
  await knex.raw(`
    create table webhook (
      tenant_id text collate "C" not null references tenant (id),
      id uuid not null,
      url text not null,
      events text[] not null,
      active boolean not null default true,
      -- Why the product has switched it off; null when nobody or its owner did.
      disabled_reason text,
      disabled_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint webhook_pkey primary key (tenant_id, id)
    );
    create index webhook_active on webhook (tenant_id) where active;
    select protect_platform_rows('webhook'), audit_table('webhook');

    -- Sealed with the instance's key. Of several, the one that does not expire is the newest.
    create table webhook_secret (
      tenant_id text collate "C" not null,
      id uuid not null,
      webhook_id uuid not null,
      sealed text not null,
      expires_at timestamptz,
      created_at timestamptz not null default now(),
      constraint webhook_secret_pkey primary key (tenant_id, id)
    );
    create index webhook_secret_webhook on webhook_secret (tenant_id, webhook_id);
    select protect_tenant_rows('webhook_secret');

    -- Since when nothing has reached a webhook; no row while it is well.
    create table webhook_failure (
      tenant_id text collate "C" not null,
      webhook_id uuid not null,
      since timestamptz not null,
      constraint webhook_failure_pkey primary key (tenant_id, webhook_id)
    );
    select protect_tenant_rows('webhook_failure');

    create table webhook_event (
      tenant_id text collate "C" not null,
      id uuid not null,
      event text not null,
      record_id uuid not null,
      -- What is sent and signed, to the byte.
      body text not null,
      created_at timestamptz not null,
      constraint webhook_event_pkey primary key (tenant_id, id)
    );
    select protect_platform_rows('webhook_event');

    create table webhook_delivery (
      tenant_id text collate "C" not null,
      id uuid not null,
      -- Events of one record were written in this order, since its row was locked meanwhile.
      seq bigint generated always as identity,
      webhook_id uuid not null,
      event_id uuid not null,
      event text not null,
      record_id uuid not null,
      status text not null default 'pending',
      -- Counts how often somebody asked for the delivery; each round has its own attempts.
      round integer not null default 1,
      attempts integer not null default 0,
      -- When a delivery under way is looked after, in case that its workflow is lost.
      watch_at timestamptz,
      next_attempt_at timestamptz,
      ended_at timestamptz,
      -- Why it was given up.
      reason text,
      created_at timestamptz not null,
      constraint webhook_delivery_pkey primary key (tenant_id, id),
      constraint webhook_delivery_status check
        (status in ('pending', 'sending', 'retrying', 'delivered', 'failed'))
    );
    create index webhook_delivery_list on webhook_delivery (tenant_id, webhook_id, seq);
    create index webhook_delivery_pending on webhook_delivery (tenant_id, webhook_id, seq)
      where status = 'pending';
    create index webhook_delivery_sending on webhook_delivery (tenant_id, webhook_id)
      where status = 'sending';
    create index webhook_delivery_open on webhook_delivery (tenant_id, webhook_id, record_id, seq)
      where status in ('pending', 'sending', 'retrying');
    create index webhook_delivery_watch on webhook_delivery (watch_at)
      where status in ('sending', 'retrying');
    select protect_platform_rows('webhook_delivery');

    create table webhook_attempt (
      tenant_id text collate "C" not null,
      delivery_id uuid not null,
      round integer not null,
      number integer not null,
      started_at timestamptz not null,
      duration_ms integer not null,
      -- Null when there was no answer.
      status_code integer,
      error text,
      -- The first kilobytes of the answer.
      answer text,
      constraint webhook_attempt_pkey primary key (tenant_id, delivery_id, round, number)
    );
    select protect_platform_rows('webhook_attempt');

    create function tell_webhook_delivery() returns trigger language plpgsql as $$
    begin
      perform pg_notify('durabill_webhook', '');
      return null;
    end $$;
    create trigger tell_inserted after insert on webhook_delivery
      for each statement execute function tell_webhook_delivery();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table webhook_attempt, webhook_delivery, webhook_event, webhook_failure, webhook_secret,
      webhook;
    drop function tell_webhook_delivery();
  `);
}
