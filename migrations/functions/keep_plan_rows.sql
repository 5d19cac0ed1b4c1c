-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261203100000-fold-priced-rows.js

CREATE OR REPLACE FUNCTION public.keep_plan_rows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into rating_plan_row
        (tenant_id, plan_id, rate_card_row_id, dimension_id, dimension_name, price_method_type)
      select new.tenant_id, new.id, (row ->> 'id')::uuid, (row ->> 'attributeId')::uuid,
        row ->> 'attributeName', row ->> 'priceMethod'
      from jsonb_array_elements(coalesce(new.plan -> 'card' -> 'rows', '[]')) as row
      on conflict do nothing;
      return null;
    end $function$;

CREATE TRIGGER keep_plan_rows AFTER INSERT ON public.rating_plan FOR EACH ROW EXECUTE FUNCTION keep_plan_rows();
