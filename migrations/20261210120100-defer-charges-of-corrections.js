/**
 * A correction writes its charges long before it becomes known, in a transaction that says so
 * (`app.correcting`, docs/decisions/0385). What would make rating and billing wait for its commit is
 * done at its end: the tallies of days, and the lock that keeps days from being closed.
 */
export async function up(knex) {
  await knex.raw(`
    create or replace function tally_transactions() returns trigger language plpgsql as $$
    declare
      sign integer := case when tg_op = 'DELETE' then -1 else 1 end;
    begin
      if current_setting('app.correcting', true) = 'on' then return null; end if;
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, 'transaction', transaction_date, usage_shard(id), sign * count(*),
        min(id::text)::uuid, max(id::text)::uuid
      from changed group by 1, 3, 4 order by 1, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $$;

    create or replace function queue_unbilled_usage() returns trigger language plpgsql as $$
    begin
      if current_setting('app.correcting', true) is distinct from 'on' then
        perform pg_advisory_xact_lock_shared(usage_lock(tenant_id))
        from (select distinct tenant_id from added) as tenant;
      end if;
      -- A statement of its own, which sees what was closed before it had the lock.
      insert into unbilled_usage
        (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
      select added.tenant_id, added.account_id, transaction_date, id, contract_service_id
      from added join closed_usage as known
        on known.tenant_id = added.tenant_id and known.account_id = added.account_id
        and added.transaction_date <= known.closed_until;
      return null;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    create or replace function tally_transactions() returns trigger language plpgsql as $$
    declare
      sign integer := case when tg_op = 'DELETE' then -1 else 1 end;
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, 'transaction', transaction_date, usage_shard(id), sign * count(*),
        min(id::text)::uuid, max(id::text)::uuid
      from changed group by 1, 3, 4 order by 1, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $$;

    create or replace function queue_unbilled_usage() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(usage_lock(tenant_id))
      from (select distinct tenant_id from added) as tenant;
      -- A statement of its own, which sees what was closed before it had the lock.
      insert into unbilled_usage
        (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
      select added.tenant_id, added.account_id, transaction_date, id, contract_service_id
      from added join closed_usage as known
        on known.tenant_id = added.tenant_id and known.account_id = added.account_id
        and added.transaction_date <= known.closed_until;
      return null;
    end $$;
  `);
}
