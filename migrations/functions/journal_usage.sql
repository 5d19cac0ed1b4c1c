-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141100-journal-usage.js

CREATE OR REPLACE FUNCTION public.journal_usage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into journal_entry (tenant_id, at, kind, account_id, currency, accounts, amounts)
      select tenant_id, at, 'usage', account_id, currency,
        array['unbilled', case when usage_type = 'Payout' then 'payouts' else 'revenue' end],
        array[amount, -amount]
      from (
        select added.tenant_id, coalesce(clock.stands_at, added.at) as at, part.account_id,
          part.currency, part.usage_type,
          sum(case when part.usage_type = 'Payout' then -added.amount else added.amount end) as amount
        from (
          select change.tenant_id, date_trunc('minute', change.added_at) as at, one.combination_id,
            one.position, sum(one.amount) as amount
          from gone as change
            cross join unnest(change.combination_ids, change.positions, change.amounts)
              as one (combination_id, position, amount)
          group by 1, 2, 3, 4
        ) as added join usage_combination_part as part
          on part.tenant_id = added.tenant_id and part.combination_id = added.combination_id
          and part.position = added.position
        left join tenant_clock as clock on clock.tenant_id = added.tenant_id
        where part.attribute_name is null
        group by 1, 2, 3, 4, 5
      ) as charged where amount <> 0;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER DELETE ON public.usage_change REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION journal_usage();
