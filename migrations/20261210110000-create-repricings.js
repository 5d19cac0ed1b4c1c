/**
 * What usage would cost with other prices (docs/decisions/0376): a repricing beside the books, with
 * tables of its own. Only what was asked and what came out is audited; the rest is scratch, and goes
 * with old repricings.
 */
export async function up(knex) {
  await knex.raw(`
    create table repricing (
      tenant_id text collate "C" not null,
      -- That of its execution.
      id uuid not null,
      name text not null,
      actor text,
      from_at timestamptz not null,
      to_at timestamptz not null,
      -- Null: all.
      account_ids uuid[],
      service_ids uuid[],
      -- JSON as it was asked for, whose numbers keep their digits.
      changes text not null,
      account_change_max numeric,
      total_decrease_max numeric,
      created_at timestamptz not null,
      -- Set when it has ended, with all that follows.
      ended_at timestamptz,
      events bigint,
      accounts bigint,
      rejected jsonb,
      before jsonb,
      after jsonb,
      change jsonb,
      is_passed boolean,
      violations jsonb,
      -- The prices that it tried were put in force from this day on.
      promoted_at timestamptz,
      promoted_from date,
      promoted_by text,
      -- Whether that was done although the guard did not pass.
      is_forced boolean not null default false,
      -- Its accounts and charges were removed, because there are newer ones.
      removed_at timestamptz,
      constraint repricing_pkey primary key (tenant_id, id)
    );
    select protect_tenant_rows('repricing');
    select audit_table('repricing');

    -- How far it is, and what its changes are as rating knows them.
    create table repricing_run (
      tenant_id text collate "C" not null,
      repricing_id uuid not null,
      facts jsonb not null,
      -- Counts its portions: each is written once.
      step integer not null default 0,
      is_done boolean not null default false,
      -- The last account of which all is done, and the last event of the next one.
      account_id uuid,
      event_id uuid,
      -- How far the counters of that account stand from the books.
      counters jsonb not null default '{}',
      events bigint not null default 0,
      total bigint not null default 0,
      rejected jsonb not null default '{}',
      constraint repricing_run_pkey primary key (tenant_id, repricing_id)
    );
    select protect_tenant_rows('repricing_run');

    create table repricing_account (
      tenant_id text collate "C" not null,
      repricing_id uuid not null,
      account_id uuid not null,
      currency text not null,
      before numeric not null,
      after numeric not null,
      charges bigint not null,
      -- In percent.
      change numeric generated always as (
        case when before <> 0 then round((after - before) * 100 / abs(before), 10) end
      ) stored,
      constraint repricing_account_pkey primary key (tenant_id, repricing_id, account_id, currency)
    );
    select protect_tenant_rows('repricing_account');
    create index repricing_account_change
      on repricing_account (tenant_id, repricing_id, change, account_id, currency);

    -- Charges of an account, some hundreds in a row, in the order in which they were rated.
    create table repricing_charge (
      tenant_id text collate "C" not null,
      repricing_id uuid not null,
      account_id uuid not null,
      -- How many charges of the account lie before.
      first bigint not null,
      count integer not null,
      charges text not null,
      constraint repricing_charge_pkey primary key (tenant_id, repricing_id, account_id, first)
    );
    select protect_tenant_rows('repricing_charge');

    create table repricing_plan (
      tenant_id text collate "C" not null,
      repricing_id uuid not null,
      id uuid not null,
      plan jsonb not null,
      constraint repricing_plan_pkey primary key (tenant_id, repricing_id, id)
    );
    select protect_tenant_rows('repricing_plan');
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table repricing_plan, repricing_charge, repricing_account, repricing_run, repricing;
  `);
}
