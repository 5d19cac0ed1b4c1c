/**
 * What is billed is recorded beside the rated transactions instead of in them (docs/decisions/0110):
 * to change a million wide rows with their indexes took most of a billing run.
 */
export async function up(knex) {
  await knex.raw(`
    -- Usage of an account up to that day is on invoices, but for what is in unbilled_usage.
    create table billed_usage (
      tenant_id text collate "C" not null,
      account_id uuid not null,
      billed_until date not null,
      constraint billed_usage_pkey primary key (tenant_id, account_id)
    ) with (fillfactor = 70);
    select protect_tenant_rows('billed_usage');

    -- Usage of an account up to that day that is rated from now on goes to unbilled_usage: a billing
    -- run is about to bill, or has billed, what was rated before.
    create table closed_usage (
      tenant_id text collate "C" not null,
      account_id uuid not null,
      closed_until date not null,
      constraint closed_usage_pkey primary key (tenant_id, account_id)
    ) with (fillfactor = 70);
    select protect_tenant_rows('closed_usage');

    -- Rated transactions of billed or closed days that no invoice has.
    create table unbilled_usage (
      tenant_id text collate "C" not null,
      account_id uuid not null,
      transaction_date date not null,
      transaction_id uuid not null,
      contract_service_id uuid,
      constraint unbilled_usage_pkey
        primary key (tenant_id, account_id, transaction_date, transaction_id)
    );
    select protect_tenant_rows('unbilled_usage');

    -- Which transactions are in which item, up to a hundred in a row; void invoices keep theirs.
    create table invoice_usage (
      tenant_id text collate "C" not null,
      invoice_id uuid not null,
      invoice_item_id uuid not null,
      -- How many transactions of the item are in rows before this one.
      first_position integer not null,
      -- The row of the card whose dimension is in the item; null: the whole transaction.
      rate_card_row_id uuid,
      transaction_ids uuid[] not null,
      constraint invoice_usage_pkey
        primary key (tenant_id, invoice_id, invoice_item_id, first_position)
    );
    select protect_tenant_rows('invoice_usage');

    -- Whether the prices of its rows are summed; with pricing logic the amount is one whole.
    alter table rating_plan add column has_rows boolean not null generated always as (
      not jsonb_path_exists(
        plan, '$.logics[*] \\? (@.chargeType == null || @.chargeType == "Usage" || @.chargeType == "All")'
      )
    ) stored;

    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        insert into billed_usage (tenant_id, account_id, billed_until)
        select tenant_id, account_id, max(transaction_date)
        from rated_transaction where tenant_id = tenant and billed group by 1, 2;
        insert into closed_usage (tenant_id, account_id, closed_until)
        select tenant_id, account_id, billed_until from billed_usage where tenant_id = tenant;
        insert into unbilled_usage
          (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
        select t.tenant_id, t.account_id, t.transaction_date, t.id, t.contract_service_id
        from billed_usage as known join rated_transaction as t
          on t.tenant_id = known.tenant_id and t.account_id = known.account_id
          and t.transaction_date <= known.billed_until
        where known.tenant_id = tenant and not t.billed;
        insert into invoice_usage
          (tenant_id, invoice_id, invoice_item_id, first_position, rate_card_row_id, transaction_ids)
        select tenant, invoice_id, item_id, before + 100 * part, row_id,
          ids[100 * part + 1 : 100 * part + 100]
        from (
          select *, sum(cardinality(ids)) over (partition by item_id order by row_id)
            - cardinality(ids) as before
          from (
            select t.invoice_id, item.id as item_id, d.rate_card_row_id as row_id,
              array_agg(t.id order by t.transaction_date, t.id) as ids
            from rated_transaction as t join invoice_item as item
              on item.tenant_id = t.tenant_id and item.invoice_id = t.invoice_id
            left join rated_dimension as d
              on d.tenant_id = t.tenant_id and d.transaction_id = t.id
              and item.dimension_id is not null
            left join rate_card_row as card_row
              on card_row.tenant_id = d.tenant_id and card_row.id = d.rate_card_row_id
            where t.tenant_id = tenant and t.billed and case
              when t.invoice_item_id is not null then t.invoice_item_id = item.id
              else t.service_id = item.service_id and d.dimension_id = item.dimension_id
                and d.price_method_type = item.price_method_type
                and (d.price_method_type = 'TIERED' or d.rate = item.rate_per_unit)
                and card_row.tax_code is not distinct from item.tax_code
            end
            group by 1, 2, 3
          ) as grouped
        ) as counted cross join generate_series(0, (cardinality(ids) - 1) / 100) as part;
      end loop;
    end $$;

    drop index rated_transaction_unbilled, rated_transaction_invoice;
    alter table rated_transaction
      drop constraint rated_transaction_billed,
      drop column billed, drop column invoice_id, drop column invoice_item_id;

    -- Names the lock that tells rating and billing of a tenant apart.
    create function usage_lock(tenant text) returns bigint
    language sql immutable strict parallel safe
    return hashtextextended('usage/' || tenant, 0);

    -- What is rated from the commit on is unbilled_usage; what was rated before can be seen after it.
    create function close_usage(tenant text, accounts uuid[], until date)
    returns void language plpgsql as $$
    begin
      -- Waits for the transactions that are rating, and lets no other begin to write.
      perform pg_advisory_xact_lock(usage_lock(tenant));
      insert into closed_usage as known (tenant_id, account_id, closed_until)
      select tenant, account, until from unnest(accounts) as account order by account
      on conflict (tenant_id, account_id) do update set closed_until = excluded.closed_until
      where known.closed_until < excluded.closed_until;
    end $$;

    create function queue_unbilled_usage() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(usage_lock(tenant_id))
      from (select distinct tenant_id from added) as tenant;
      -- A statement of its own, which sees what was closed before it had the lock.
      insert into unbilled_usage
        (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
      select added.tenant_id, added.account_id, transaction_date, id, contract_service_id
      from added join closed_usage as known
        on known.tenant_id = added.tenant_id and known.account_id = added.account_id
        and added.transaction_date <= known.closed_until;
      return null;
    end $$;
    create trigger queue_unbilled after insert on rated_transaction
      referencing new table as added for each statement execute function queue_unbilled_usage();

    create function drop_unbilled_usage() returns trigger language plpgsql as $$
    begin
      delete from unbilled_usage as known using removed
      where known.tenant_id = removed.tenant_id and known.account_id = removed.account_id
        and known.transaction_date = removed.transaction_date
        and known.transaction_id = removed.id;
      return null;
    end $$;
    create trigger drop_unbilled after delete on rated_transaction
      referencing old table as removed for each statement execute function drop_unbilled_usage();
  `);
}

export async function down(knex) {
  await knex.raw(`
    drop trigger queue_unbilled on rated_transaction;
    drop trigger drop_unbilled on rated_transaction;
    drop function queue_unbilled_usage(), drop_unbilled_usage(), close_usage(text, uuid[], date),
      usage_lock(text);
    alter table rated_transaction
      add column billed boolean not null default false,
      add column invoice_id uuid,
      add column invoice_item_id uuid;
    do $$
    declare
      tenant text;
    begin
      for tenant in select id from public.tenant loop
        perform set_config('app.tenant_id', tenant, true);
        update rated_transaction as t
        set billed = true, invoice_id = whole.invoice_id, invoice_item_id = whole.item_id
        from (
          select transaction_id, min(part.invoice_id::text)::uuid as invoice_id,
            case when count(distinct invoice_item_id) = 1 then min(invoice_item_id::text)::uuid end
              as item_id
          from invoice_usage as part join invoice
            on invoice.tenant_id = part.tenant_id and invoice.id = part.invoice_id
            and invoice.invoice_status <> 'Void'
          cross join unnest(part.transaction_ids) as transaction_id
          where part.tenant_id = tenant group by 1
        ) as whole
        where t.tenant_id = tenant and t.id = whole.transaction_id;
      end loop;
    end $$;
    alter table rated_transaction add constraint rated_transaction_billed check (
      billed = (invoice_id is not null) and (invoice_item_id is null or billed)
    );
    create index rated_transaction_invoice
      on rated_transaction (tenant_id, invoice_id, invoice_item_id) where invoice_id is not null;
    create index rated_transaction_unbilled
      on rated_transaction (tenant_id, account_id, transaction_date) where not billed;
    alter table rating_plan drop column has_rows;
    drop table invoice_usage, unbilled_usage, closed_usage, billed_usage;
  `);
}
