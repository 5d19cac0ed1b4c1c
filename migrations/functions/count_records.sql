-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122000000-create-record.js

CREATE OR REPLACE FUNCTION public.count_records()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into record_count as counted (tenant_id, record_type_id, shard, records)
      select tenant_id, record_type_id, pg_backend_pid() % 16,
        count(*) * case tg_op when 'INSERT' then 1 else -1 end
      from changed_rows group by tenant_id, record_type_id
      on conflict on constraint record_count_pkey
        do update set records = counted.records + excluded.records;
      return null;
    end $function$;

CREATE TRIGGER count_deleted AFTER DELETE ON public.record REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION count_records();

CREATE TRIGGER count_inserted AFTER INSERT ON public.record REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION count_records();
