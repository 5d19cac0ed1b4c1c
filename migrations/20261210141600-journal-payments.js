/** Money that came in or went out: payments that are completed and approved, as they change. */
export async function up(knex) {
  await knex.raw(`
    create function journal_cash(payment payment) returns numeric language sql immutable as $$
      select case when payment.payment_status = 'Completed' and payment.approval_status = 'Approved'
        and payment.deleted_at is null
        then case when payment.payment_type = 'Pay Out' then -payment.amount else payment.amount end
        else 0 end
    $$;
    create function journal_payment() returns trigger language plpgsql as $$
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
    end $$;
    create trigger journal after insert on payment
      for each row execute function journal_payment();
    create trigger journal_change after update on payment for each row
      when (
        (old.amount, old.currency, old.account_id, old.payment_type, old.payment_status,
          old.approval_status, old.deleted_at)
        is distinct from (new.amount, new.currency, new.account_id, new.payment_type,
          new.payment_status, new.approval_status, new.deleted_at)
      )
      execute function journal_payment();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal_change on payment;
    drop trigger journal on payment;
    drop function journal_payment();
    drop function journal_cash(payment);
  `);
}
