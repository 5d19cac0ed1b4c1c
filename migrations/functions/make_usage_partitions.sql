-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261209090300-divide-usage-facts.js

CREATE OR REPLACE FUNCTION public.make_usage_partitions(first_at timestamp with time zone, last_at timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '4s'
AS $function$
    declare
      kept text;
      part text;
      month timestamp;
      next_month timestamp;
      made integer := 0;
    begin
      if last_at > first_at + interval '10 years' then
        raise invalid_parameter_value using message = 'these are more than ten years';
      end if;
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      foreach kept in array array['usage_event', 'rated_transaction'] loop
        month := date_trunc('month', first_at at time zone 'UTC');
        while month <= last_at at time zone 'UTC' loop
          next_month := month + interval '1 month';
          if not exists (
            select from usage_partitions() as known where known.parent = kept
              and (known.first_id is null or known.first_id <= uuid_at(month at time zone 'UTC'))
              and known.end_id > uuid_at(month at time zone 'UTC')
          ) then
            part := kept || '_' || to_char(month, 'YYYYMM');
            execute format('create table public.%I (like public.%I including all)', part, kept);
            perform protect_tenant_rows(part::regclass);
            perform keep_few_common_accounts(part);
            execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)',
              kept, part, uuid_at(month at time zone 'UTC'), uuid_at(next_month at time zone 'UTC'));
            made := made + 1;
          end if;
          month := next_month;
        end loop;
      end loop;
      return made;
    end $function$;
