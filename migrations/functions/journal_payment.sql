-- As the migrations have left it; nothing reads this file (npm run record-functions).
-- migrations/20261210141600-journal-payments.js

CREATE OR REPLACE FUNCTION public.journal_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select new.tenant_id, journal_now(new.tenant_id), 'payment', moved.account_id, moved.currency,
        'payment', new.id, array['cash', 'unapplied'], array[sum(moved.amount), -sum(moved.amount)]
      from (
        select new.account_id, new.currency, journal_cash(new) as amount
        union all
        select old.account_id, old.currency, -journal_cash(old) where tg_op = 'UPDATE'
      ) as moved
      group by moved.account_id, moved.currency having sum(moved.amount) <> 0;
      return null;
    end $function$;

CREATE TRIGGER journal AFTER INSERT ON public.payment FOR EACH ROW EXECUTE FUNCTION journal_payment();

CREATE TRIGGER journal_change AFTER UPDATE ON public.payment FOR EACH ROW WHEN ((((((((old.amount IS DISTINCT FROM new.amount) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.account_id IS DISTINCT FROM new.account_id)) OR (old.payment_type IS DISTINCT FROM new.payment_type)) OR (old.payment_status IS DISTINCT FROM new.payment_status)) OR (old.approval_status IS DISTINCT FROM new.approval_status)) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION journal_payment();
