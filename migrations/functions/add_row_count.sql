-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261121220000-count-rows.js

CREATE OR REPLACE FUNCTION public.add_row_count(tenant text, counted text, change bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    begin
      if change = 0 then return; end if;
      update row_count set total = total + change
      where tenant_id = tenant and table_name = counted and id = (
        select id from row_count where tenant_id = tenant and table_name = counted
        order by id limit 1 for update skip locked);
      if not found then
        insert into row_count (tenant_id, table_name, total) values (tenant, counted, change);
      end if;
    end $function$;
