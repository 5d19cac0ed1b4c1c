-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220100-tally-usage-days.js
-- migrations/20261210120100-defer-charges-of-corrections.js

CREATE OR REPLACE FUNCTION public.tally_transactions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
    end $function$;

CREATE TRIGGER tally_inserted AFTER INSERT ON public.rated_transaction REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();

CREATE TRIGGER tally_removed AFTER DELETE ON public.rated_transaction REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();
