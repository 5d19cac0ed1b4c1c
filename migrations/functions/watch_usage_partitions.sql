-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210100000-drop-archived-usage.js

CREATE OR REPLACE FUNCTION public.watch_usage_partitions(month date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '4s'
AS $function$
    declare
      whole text;
      part text;
    begin
      foreach whole in array array['usage_event', 'rated_transaction'] loop
        part := usage_partition_at(whole, month::timestamp at time zone 'UTC');
        continue when part is null;
        execute format('lock table public.%I in share row exclusive mode', part);
        if not exists (
          select from pg_trigger where tgrelid = format('public.%I', part)::regclass
            and tgname = 'note_change'
        ) then
          execute format('create trigger note_change after insert or update or delete on public.%I
            for each row execute function note_partition_change()', part);
        end if;
        delete from usage_partition_change where partition = part;
      end loop;
    end $function$;
