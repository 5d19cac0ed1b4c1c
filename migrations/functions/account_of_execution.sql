-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209111000-find-changes-of-accounts.js

CREATE OR REPLACE FUNCTION public.account_of_execution(workflow text, input jsonb)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      select case when id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then id::uuid end from (
        select coalesce(input ->> 'accountId', start ->> 'ID_Account', start ->> 'account_id',
          start ->> 'master_account_id',
          case when workflow in ('editAccount', 'deleteAccount') then start ->> 'id' end) as id
        from (select input -> 'start' as start) as given
      ) as named
    $function$;
