-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20270105122000-forget-stale-marks.js

CREATE OR REPLACE FUNCTION public.forget_stale_marks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.marks := null;
      return new;
    end $function$;

CREATE TRIGGER forget_stale_marks BEFORE UPDATE OF input, output, error ON public.workflow_task FOR EACH ROW WHEN (((new.marks IS NOT NULL) AND (NOT (new.marks IS DISTINCT FROM old.marks)) AND (((new.input IS DISTINCT FROM old.input) OR (new.output IS DISTINCT FROM old.output)) OR (new.error IS DISTINCT FROM old.error)))) EXECUTE FUNCTION forget_stale_marks();
