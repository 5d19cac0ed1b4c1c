-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300300-bill-shares-of-accounts.js

CREATE OR REPLACE FUNCTION public.keep_account_shares()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'UPDATE' then
        delete from account_share
        where tenant_id = new.tenant_id and contract_service_id = new.id;
      end if;
      insert into account_share (tenant_id, contract_service_id, account_id, weight)
      select new.tenant_id, new.id, share.account_id, share.weight
      from read_account_shares(new) as share;
      return null;
    end $function$;

CREATE TRIGGER keep_account_shares_changed AFTER UPDATE ON public.contract_service FOR EACH ROW WHEN (((old.account_map IS DISTINCT FROM new.account_map) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION keep_account_shares();

CREATE TRIGGER keep_account_shares_inserted AFTER INSERT ON public.contract_service FOR EACH ROW WHEN ((new.account_map IS NOT NULL)) EXECUTE FUNCTION keep_account_shares();
