-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220100-tally-usage-days.js

CREATE OR REPLACE FUNCTION public.tally_changed_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into usage_day as known (tenant_id, kind, day, shard, total, first_id, last_id)
      select tenant_id, status, usage_day_of(event_at, received_at), partition, sum(sign),
        min(id::text)::uuid, max(id::text)::uuid
      from (
        select tenant_id, id, status, event_at, received_at, partition, 1 as sign from changed
        union all
        select tenant_id, id, status, event_at, received_at, partition, -1 from was
      ) as change
      group by 1, 2, 3, 4 having sum(sign) <> 0 order by 1, 2, 3, 4
      on conflict (tenant_id, kind, day, shard) do update set total = known.total + excluded.total,
        first_id = least(known.first_id, excluded.first_id),
        last_id = greatest(known.last_id, excluded.last_id);
      return null;
    end $function$;

CREATE TRIGGER tally_changed AFTER UPDATE ON public.usage_event REFERENCING OLD TABLE AS was NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_changed_events();
