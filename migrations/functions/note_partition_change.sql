-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.note_partition_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into usage_partition_change (tenant_id, partition)
      values (case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end, tg_table_name)
      on conflict do nothing;
      return null;
    end $function$;
