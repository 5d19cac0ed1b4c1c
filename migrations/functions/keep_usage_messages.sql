-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261203100100-create-usage-message.js

CREATE OR REPLACE FUNCTION public.keep_usage_messages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if exists (
        select from usage_message
        where tenant_id = new.tenant_id and partition = new.partition
          and first_offset < new.end_offset and first_offset > new.first_offset - 32
          and end_offset > new.first_offset
      ) then
        raise exception 'the usage log has messages of partition % from % to %', new.partition,
          new.first_offset, new.end_offset;
      end if;
      return new;
    end $function$;

CREATE TRIGGER keep_usage_messages BEFORE INSERT ON public.lost_usage_range FOR EACH ROW EXECUTE FUNCTION keep_usage_messages();
