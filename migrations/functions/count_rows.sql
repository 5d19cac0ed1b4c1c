-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220000-count-rows.js

CREATE OR REPLACE FUNCTION public.count_rows(target regclass, is_soft boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    declare
      how text := case when is_soft then 'soft' else 'hard' end;
      tenant text;
    begin
      execute format('create trigger count_inserted after insert on %s
        referencing new table as changed for each statement
        execute function count_inserted(%L)', target, how);
      execute format('create trigger count_removed after delete on %s
        referencing old table as changed for each statement
        execute function count_removed(%L)', target, how);
      if is_soft then
        execute format('create trigger count_soft_deleted after update of deleted_at on %s
          for each row when ((old.deleted_at is null) <> (new.deleted_at is null))
          execute function count_soft_deleted()', target);
      end if;
      -- The rows that are there. Tenant by tenant, because row-level security binds an owner that
      -- is no superuser.
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        execute format('select add_row_count($1, %L, count(*)) from %s where tenant_id = $1 %s',
          target::text, target, case when is_soft then 'and deleted_at is null' end) using tenant;
      end loop;
    end $function$;
