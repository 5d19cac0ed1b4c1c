-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220100-tally-usage-days.js

CREATE OR REPLACE FUNCTION public.tally_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      sign integer := case when tg_op = 'DELETE' then -1 else 1 end;
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, status, usage_day_of(event_at, received_at), partition, sign * count(*),
        min(id::text)::uuid, max(id::text)::uuid
      from changed group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $function$;

CREATE TRIGGER tally_inserted AFTER INSERT ON public.usage_event REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_events();

CREATE TRIGGER tally_removed AFTER DELETE ON public.usage_event REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_events();
