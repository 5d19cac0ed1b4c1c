-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209111000-find-changes-of-accounts.js

CREATE OR REPLACE FUNCTION public.account_of_change(entity text, entity_id uuid, before jsonb, after jsonb)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      select case entity
        when 'account' then entity_id
        when 'contract' then (coalesce(after, before) ->> 'master_account_id')::uuid
        when 'address' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'invoice' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'payment' then (coalesce(after, before) ->> 'account_id')::uuid
        when 'wallet' then (coalesce(after, before) ->> 'account_id')::uuid
      end
    $function$;
