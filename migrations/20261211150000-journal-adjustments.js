/**
 * What maximums, minimums and commitments make of a period is earned as it is billed: the journal had it on
 * invoices alone, and so kept it in `unbilled` for ever (docs/decisions/0400). What was billed before is
 * booked now.
 */
export async function up(knex) {
  await knex.raw(`
    create function journal_adjustments() returns trigger language plpgsql as $$
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant_id, journal_now(tenant_id), 'adjustment', account_id, currency, 'charge', id,
        array['unbilled', 'revenue'], array[amount, -amount]
      from added where voided_at is null and amount <> 0;
      return null;
    end $$;
    create function journal_voided_adjustment() returns trigger language plpgsql as $$
    begin
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select old.tenant_id, journal_now(old.tenant_id), 'adjustment', old.account_id, old.currency,
        'charge', old.id, array['unbilled', 'revenue'], array[-old.amount, old.amount];
      return null;
    end $$;
    create trigger journal after insert on adjustment_charge
      referencing new table as added for each statement execute function journal_adjustments();
    create trigger journal_void after update on adjustment_charge for each row
      when (old.voided_at is null and new.voided_at is not null and old.amount <> 0)
      execute function journal_voided_adjustment();

    -- As the owner, whom row-level security holds to a tenant.
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into journal_entry
          (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
        select tenant_id, journal_now(tenant_id), 'adjustment', account_id, currency, 'charge', id,
          array['unbilled', 'revenue'], array[amount, -amount]
        from adjustment_charge where tenant_id = tenant and voided_at is null and amount <> 0;
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger journal_void on adjustment_charge;
    drop trigger journal on adjustment_charge;
    drop function journal_voided_adjustment();
    drop function journal_adjustments();
  `);
}
