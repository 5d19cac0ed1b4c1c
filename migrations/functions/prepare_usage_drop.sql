-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.prepare_usage_drop(month date, tenants text[])
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    declare
      whole text;
      part text;
      rest text;
      owner text;
      place record;
      columns text;
      stays text;
      first_id uuid := uuid_at(month::timestamp at time zone 'UTC');
      end_id uuid := uuid_at((month + interval '1 month') at time zone 'UTC');
      entered text := current_setting('app.tenant_id', true);
      copied bigint := 0;
      found bigint;
    begin
      perform pg_advisory_xact_lock(hashtextextended('usage-partitions', 0));
      foreach whole in array array['usage_event', 'rated_transaction'] loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        rest := part || '_kept';
        execute format('drop table if exists public.%I', rest);
        execute format('create table public.%I (like public.%I including all)', rest, whole);
        perform protect_tenant_rows(format('public.%I', rest)::regclass);
        perform keep_few_common_accounts(rest);
        select known.first_id, known.end_id into place from usage_partitions() as known
        where known.name = part;
        -- With it, nothing is read when the table becomes a partition.
        execute format('alter table public.%I add constraint kept_bound check (id < %L%s)', rest,
          place.end_id, case when place.first_id is null then '' else format(' and id >= %L', place.first_id) end);
        select string_agg(quote_ident(attname), ', ' order by attnum) into columns
        from pg_attribute
        where attrelid = format('public.%I', whole)::regclass and attnum > 0
          and not attisdropped and attgenerated = '';
        stays := case whole when 'usage_event'
          then $sql$ or status = 'rejected' or original_id is not null
            or usage_is_moved(id, partition, "offset") $sql$ else '' end;
        for owner in select id from tenant order by id loop
          perform set_config('app.tenant_id', owner, true);
          execute format('insert into public.%1$I (%2$s) select %2$s from public.%3$I
            where tenant_id = $1 and (not $2 or id < $3 or id >= $4 %4$s)', rest, columns, part, stays)
          using owner, owner = any(tenants), first_id, end_id;
          get diagnostics found = row_count;
          copied := copied + found;
        end loop;
        perform set_config('app.tenant_id', entered, true);
        execute format('analyze public.%I', rest);
      end loop;
      return copied;
    end $function$;
