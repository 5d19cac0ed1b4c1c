-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.finish_usage_drop(month date, tenants text[], at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
    declare
      whole text;
      part text;
      bound text;
      one text;
      has_strangers boolean;
      freed bigint := 0;
      entered text := current_setting('app.tenant_id', true);
      first_id uuid := uuid_at(month::timestamp at time zone 'UTC');
      end_id uuid := uuid_at((month + interval '1 month') at time zone 'UTC');
    begin
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      -- A legal hold that is placed at this moment is waited for, or waits.
      foreach one in array tenants loop
        perform pg_advisory_xact_lock(hashtextextended('retention/' || one, 0));
      end loop;
      lock table only usage_event, only rated_transaction in access exclusive mode;
      foreach one in array tenants loop
        if exists (select from legal_hold where tenant_id = one) then
          raise exception 'the tenant % is under a legal hold', one using errcode = 'DB346';
        end if;
        if not exists (
          select from usage_archive_month as known where known.tenant_id = one
            and known.month = finish_usage_drop.month and known.state = 'complete'
            and known.dropped_at is null
        ) then
          raise exception 'the archive of % is not complete, or it is dropped', one
            using errcode = 'DB346';
        end if;
        perform set_config('app.tenant_id', one, true);
        if exists (
          select from unbilled_usage as late where late.tenant_id = one
            and late.transaction_id >= first_id and late.transaction_id < end_id
        ) then
          raise exception 'usage of % is not billed', one using errcode = 'DB346';
        end if;
        perform set_config('app.tenant_id', entered, true);
      end loop;
      foreach whole in array array['usage_event', 'rated_transaction'] loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        if exists (
          select from pg_publication_rel
          where prrelid in (whole::regclass, format('public.%I', part)::regclass)
        ) then
          raise exception 'a tenant is being moved to another cell' using errcode = 'DB346';
        end if;
        execute format('lock table public.%I in access exclusive mode', part);
        if exists (select from usage_partition_change where partition = part) then
          raise exception 'rows of % were written meanwhile', part using errcode = 'DB347';
        end if;
        -- Whoever has rows here but is no tenant was not copied.
        execute format('alter table public.%I no force row level security', part);
        execute format('with recursive owner (id) as (
            (select tenant_id from public.%1$I order by tenant_id limit 1)
            union all
            select (select tenant_id from public.%1$I where tenant_id > owner.id
              order by tenant_id limit 1)
            from owner where owner.id is not null
          ) select exists (select from owner where owner.id is not null
              and not exists (select from tenant where tenant.id = owner.id))', part) into has_strangers;
        if has_strangers then
          raise exception 'rows of % belong to no tenant', part using errcode = 'DB346';
        end if;
        freed := freed + pg_total_relation_size(format('public.%I', part)::regclass)
          - pg_total_relation_size(format('public.%I', part || '_kept')::regclass);
        select pg_get_expr(relpartbound, oid) into bound from pg_class
        where oid = format('public.%I', part)::regclass;
        execute format('alter table public.%I detach partition public.%I', whole, part);
        execute format('drop table public.%I', part);
        execute format('alter table public.%I rename to %I', part || '_kept', part);
        execute format('alter table public.%I attach partition public.%I %s', whole, part, bound);
        execute format('alter table public.%I drop constraint kept_bound', part);
      end loop;
      update usage_archive_month as known set dropped_at = at
      where known.tenant_id = any(tenants) and known.month = finish_usage_drop.month;
      return freed;
    end $function$;
