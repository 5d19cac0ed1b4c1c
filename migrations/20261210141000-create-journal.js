/**
 * The journal (docs/decisions/0400): every movement of money as an entry whose postings sum to zero. The
 * triggers that write it are made by the migrations behind this one, each in a transaction of its own:
 * one that locked all of these tables could not run beside billing.
 *
 * A debit is above zero, a credit below.
 */
export async function up(knex) {
  await knex.raw(`
    create function journal_sum(amounts numeric[]) returns numeric
    language sql immutable parallel safe as $$
      select coalesce(sum(amount), 0) from unnest(amounts) as amount
    $$;

    create table journal_entry (
      tenant_id text collate "C" not null,
      -- When it was booked, by the clock of the tenant; of usage the minute in which it was rated.
      at timestamptz not null,
      id uuid not null default gen_random_uuid(),
      kind text not null,
      account_id uuid not null,
      currency text not null,
      -- What it is about, if that is one record.
      record_type text,
      record_id uuid,
      accounts text[] not null,
      amounts numeric[] not null,
      constraint journal_entry_pkey primary key (tenant_id, at, id),
      constraint journal_entry_balanced check (
        cardinality(accounts) >= 2 and cardinality(accounts) = cardinality(amounts)
        and array_position(accounts, null) is null and array_position(amounts, null) is null
        and journal_sum(amounts) = 0
      ),
      constraint journal_entry_accounts check (accounts <@ array[
        'receivable', 'unbilled', 'cash', 'clearing', 'unapplied', 'wallet', 'promotional',
        'deferred', 'tax', 'revenue', 'breakage', 'payouts', 'promotions', 'credited', 'rounding',
        'opening'
      ])
    );
    create index journal_entry_account on journal_entry (tenant_id, account_id, at, id);
    -- What is not usage is found without reading all of that.
    create index journal_entry_other on journal_entry (tenant_id, at, id) where kind <> 'usage';
    select protect_platform_rows('journal_entry');
    create trigger append_only before update on journal_entry
      for each row execute function refuse_change();

    -- Up to which day deferred revenue is recognized, and whether what was before is in the journal.
    create table journal_state (
      tenant_id text collate "C" not null references tenant (id),
      recognized_until date not null,
      opened_at timestamptz,
      constraint journal_state_pkey primary key (tenant_id)
    ) with (fillfactor = 50);
    select protect_platform_rows('journal_state');

    create function journal_now(tenant text) returns timestamptz language sql stable as $$
      select coalesce((select stands_at from tenant_clock where tenant_id = tenant), now())
    $$;

    -- What of a charge for days is earned before a day: exact at the end, whatever the days.
    create function journal_recognized(
      charge_type text, amount numeric, first_day date, last_day date, until date
    ) returns numeric language sql immutable parallel safe as $$
      select case when charge_type <> 'Subscription' or until > last_day then amount
        when until <= first_day then 0
        else round(amount * (until - first_day) / (last_day - first_day + 1), 10) end
    $$;

    -- The day until which a tenant's revenue is recognized, which stays until the transaction ends.
    create function hold_journal_day(tenant text) returns date language plpgsql as $$
    declare
      day date;
    begin
      loop
        select recognized_until into day from journal_state where tenant_id = tenant for share;
        if found then return day; end if;
        insert into journal_state (tenant_id, recognized_until, opened_at)
        values (tenant, (journal_now(tenant) at time zone 'UTC')::date, journal_now(tenant))
        on conflict do nothing;
      end loop;
    end $$;

    -- An invoice as it was posted, or what takes that back.
    create function journal_invoices(tenant text, ids uuid[], is_void boolean) returns void
    language sql as $$
      insert into journal_entry
        (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
      select tenant, journal_now(tenant), case when is_void then 'void'
          when invoice_type = 'Credit Note' then 'credit-note' else 'invoice' end,
        account_id, currency, 'invoice', id, posted.accounts, posted.amounts
      from (
        select invoice.id, invoice.account_id, invoice.currency, invoice.invoice_type,
          invoice.credited_invoice_id is not null as is_note,
          case when (invoice.invoice_type = 'Credit Note') <> is_void then -1 else 1 end as sign,
          sum(item.amount) as net, sum(item.tax) as tax,
          sum(coalesce(item.exact_amount, item.amount)) as exact
        from invoice join invoice_item as item
          on item.tenant_id = invoice.tenant_id and item.invoice_id = invoice.id
        where invoice.tenant_id = tenant and invoice.id = any(ids)
        group by invoice.tenant_id, invoice.id
      ) as billed cross join lateral (
        select array_agg(account order by n) as accounts, array_agg(amount order by n) as amounts
        from (values
          (1, 'receivable', sign * (net + tax)),
          (2, 'tax', -sign * tax),
          (3, 'credited', case when is_note then -sign * net end),
          (4, 'unbilled', case when not is_note then -sign * exact end),
          (5, 'rounding', case when not is_note then sign * (exact - net) end)
        ) as posting (n, account, amount) where amount <> 0
      ) as posted where posted.accounts is not null
    $$;
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop function journal_invoices(text, uuid[], boolean);
    drop function hold_journal_day(text);
    drop function journal_recognized(text, numeric, date, date, date);
    drop table journal_state, journal_entry;
    drop function journal_now(text);
    drop function journal_sum(numeric[]);
  `);
}
