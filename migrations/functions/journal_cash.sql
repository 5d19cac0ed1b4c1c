-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141600-journal-payments.js

CREATE OR REPLACE FUNCTION public.journal_cash(payment payment)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
AS $function$
      select case when payment.payment_status = 'Completed' and payment.approval_status = 'Approved'
        and payment.deleted_at is null
        then case when payment.payment_type = 'Pay Out' then -payment.amount else payment.amount end
        else 0 end
    $function$;
