-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261122100000-create-webhook.js

CREATE OR REPLACE FUNCTION public.tell_webhook_delivery()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_notify('durabill_webhook', '');
      return null;
    end $function$;

CREATE TRIGGER tell_inserted AFTER INSERT ON public.webhook_delivery FOR EACH STATEMENT EXECUTE FUNCTION tell_webhook_delivery();
