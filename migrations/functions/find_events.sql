-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261205100000-find-events-apart.js

CREATE OR REPLACE FUNCTION public.find_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      -- In their order, so that two batches that have ids in common cannot deadlock.
      insert into usage_identity (tenant_id, external_id, event_id)
      select tenant_id, external_transaction_id, id from changed
      where original_id is null and external_transaction_id is not null
      order by external_transaction_id collate "C";
      insert into usage_range (tenant_id, partition, first_offset, end_offset, first_id, last_id)
      select tenant_id, partition, min("offset"), max("offset") + 1, min(id::text)::uuid,
        max(id::text)::uuid
      from changed where not usage_is_moved(id, partition, "offset") group by 1, 2;
      return null;
    end $function$;

CREATE TRIGGER find_inserted AFTER INSERT ON public.usage_event REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION find_events();
