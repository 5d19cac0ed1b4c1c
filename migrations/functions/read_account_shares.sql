-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261128300300-bill-shares-of-accounts.js

CREATE OR REPLACE FUNCTION public.read_account_shares(line contract_service)
 RETURNS TABLE(account_id uuid, weight numeric)
 LANGUAGE plpgsql
 STABLE
AS $function$
    declare
      known integer;
    begin
      if line.deleted_at is not null or coalesce(jsonb_typeof(line.account_map), '') <> 'object'
      then
        return;
      end if;
      if exists (
        select from jsonb_each_text(line.account_map) as given (id, share)
        where id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          or coalesce(share, '') !~ '^[0-9]{1,38}([.][0-9]{1,38}){0,1}$'
      ) then
        return;
      end if;
      if exists (
        select from jsonb_each_text(line.account_map) as given (id, share)
        where share::numeric = 0
        union all
        select from jsonb_each_text(line.account_map) as given (id, share) left join account
          on account.tenant_id = line.tenant_id and account.id = given.id::uuid
          and account.deleted_at is null
        where account.id is null
      ) then
        return;
      end if;
      return query select given.id::uuid, sum(given.share::numeric)
        from jsonb_each_text(line.account_map) as given (id, share) group by 1;
    end $function$;
