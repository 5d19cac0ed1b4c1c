/**
 * Charges of lines of contracts: what is for days to come is deferred. The day until which revenue is
 * recognized stays while they are booked, so that none of their days is left out, or earned twice.
 */
export async function up(knex) {
  await knex.raw(`
    create function journal_recurring(
      tenant text, currency text, account_id uuid, record_id uuid, usage_type text, charge_type text,
      amount numeric, first_day date, last_day date, sign integer
    ) returns void language plpgsql as $$
    declare
      until date := hold_journal_day(tenant);
      direction integer := case when usage_type = 'Payout' then -sign else sign end;
      earned numeric := journal_recognized(charge_type, amount, first_day, last_day, until);
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), 'recurring', account_id, currency, 'charge', record_id,
        array_agg(posting.account order by posting.n), array_agg(posting.amount order by posting.n)
      from (values
        (1, 'unbilled', direction * amount),
        (2, case when usage_type = 'Payout' then 'payouts' else 'revenue' end, -direction * earned),
        (3, 'deferred', -direction * (amount - earned))
      ) as posting (n, account, amount) where posting.amount <> 0
      having count(*) > 0;
    end $$;

    create function journal_recurring_charges() returns trigger language plpgsql as $$
    begin
      perform journal_recurring(tenant_id, currency, account_id, id, usage_type, charge_type, amount,
        bill_start_date, bill_end_date, 1)
      from added where voided_at is null;
      return null;
    end $$;
    create function journal_voided_charge() returns trigger language plpgsql as $$
    begin
      perform journal_recurring(old.tenant_id, old.currency, old.account_id, old.id, old.usage_type,
        old.charge_type, old.amount, old.bill_start_date, old.bill_end_date, -1);
      return null;
    end $$;
    create trigger journal after insert on recurring_charge
      referencing new table as added for each statement
      execute function journal_recurring_charges();
    create trigger journal_void after update on recurring_charge for each row
      when (old.voided_at is null and new.voided_at is not null)
      execute function journal_voided_charge();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal_void on recurring_charge;
    drop trigger journal on recurring_charge;
    drop function journal_voided_charge();
    drop function journal_recurring_charges();
    drop function journal_recurring(text, text, uuid, uuid, text, text, numeric, date, date, integer);
  `);
}
