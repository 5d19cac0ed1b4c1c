/**
 * What corrections of invoiced usage have given back or added, and what of it credit notes had given back
 * before (docs/decisions/0428). The second is no charge: the journal moves it from what was credited.
 */
export async function up(knex) {
  await knex.raw(`
    create table billed_difference (
      tenant_id text collate "C" not null references tenant (id),
      -- The item that shows it.
      id uuid not null,
      invoice_id uuid not null,
      corrected_invoice_id uuid not null,
      account_id uuid not null,
      currency text not null,
      service_id uuid not null,
      dimension_id uuid,
      tax_code text,
      -- As charges: below zero where something is given back. Before discounts and credits.
      amount numeric not null,
      discounted numeric not null,
      credited numeric not null,
      -- Whether it is what notes had credited before, with the opposite sign.
      is_credited boolean not null,
      voided_at timestamptz,
      constraint billed_difference_pkey primary key (tenant_id, id)
    );
    create index billed_difference_corrected
      on billed_difference (tenant_id, corrected_invoice_id);
    create index billed_difference_invoice on billed_difference (tenant_id, invoice_id);
    create index billed_difference_credited on billed_difference (tenant_id, account_id)
      where is_credited and voided_at is null;
    select protect_tenant_rows('billed_difference');

    create function journal_differences(
      tenant text, account_id uuid, currency text, corrected uuid, net numeric
    ) returns void language sql as $$
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), 'credit-note', account_id, currency, 'invoice', corrected,
        array['unbilled', 'credited'], array[net, -net]
      where net <> 0
    $$;
    create function journal_billed_differences() returns trigger language plpgsql as $$
    begin
      perform journal_differences(tenant_id, account_id, currency, corrected_invoice_id,
        amount - discounted - credited)
      from added where is_credited and voided_at is null;
      return null;
    end $$;
    create function journal_voided_difference() returns trigger language plpgsql as $$
    begin
      perform journal_differences(old.tenant_id, old.account_id, old.currency,
        old.corrected_invoice_id, -(old.amount - old.discounted - old.credited));
      return null;
    end $$;
    create trigger journal after insert on billed_difference
      referencing new table as added for each statement execute function journal_billed_differences();
    create trigger journal_void after update on billed_difference for each row
      when (old.is_credited and old.voided_at is null and new.voided_at is not null)
      execute function journal_voided_difference();

    -- As the owner, whom row-level security holds to a tenant.
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into billed_difference (tenant_id, id, invoice_id, corrected_invoice_id, account_id,
          currency, service_id, dimension_id, tax_code, amount, discounted, credited, is_credited)
        select tenant, item.id, invoice.id, item.corrected_invoice_id, invoice.account_id,
          invoice.currency, item.service_id, item.dimension_id, item.tax_code,
          case when invoice.is_reversed then -1 else 1 end * coalesce(item.exact_amount, item.amount),
          0, 0, false
        from invoice_item as item join invoice
          on invoice.tenant_id = tenant and invoice.id = item.invoice_id
        where item.tenant_id = tenant and item.corrected_invoice_id is not null
          and item.service_id is not null and item.charge_type = 'Usage'
          and item.credited_item_id is null and invoice.invoice_status = 'Posted';
      end loop;
    end $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop table billed_difference;
    drop function journal_billed_differences();
    drop function journal_voided_difference();
    drop function journal_differences(text, uuid, text, uuid, numeric);
  `);
}
