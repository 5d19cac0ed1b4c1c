-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261123100000-record-billed-usage.js
-- migrations/20261210120100-defer-charges-of-corrections.js
-- migrations/20261215000000-look-up-by-key-in-batches.js

CREATE OR REPLACE FUNCTION public.queue_unbilled_usage()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
  begin
    if current_setting('app.correcting', true) is distinct from 'on' then
      perform pg_advisory_xact_lock_shared(usage_lock(tenant_id))
      from (select distinct tenant_id from added) as tenant;
    end if;
    -- A statement of its own, which sees what was closed before it had the lock.
    insert into unbilled_usage
      (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
    select added.tenant_id, added.account_id, transaction_date, id, contract_service_id
    from added 
  cross join lateral (
    select closed_until from (
      select * from closed_usage as own
      where own.tenant_id = added.tenant_id and own.account_id >= added.account_id
      order by own.account_id limit 1
    ) as first where first.account_id = added.account_id
  ) as known where true and added.transaction_date <= known.closed_until;
    return null;
  end $function$;

CREATE TRIGGER queue_unbilled AFTER INSERT ON public.rated_transaction REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_unbilled_usage();
