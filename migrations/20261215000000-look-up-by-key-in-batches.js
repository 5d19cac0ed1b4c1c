/**
 * What the rows of a batch name is looked up once for each, by its key, whatever a session knew of the
 * tables when it planned first (docs/decisions/0447): no other index has the order that is asked for.
 */
const lookUp = (table, key, columns, { of, by = key }) => `
  cross join lateral (
    select ${columns} from (
      select * from ${table} as own
      where own.tenant_id = ${of}.tenant_id and own.${key} >= ${of}.${by}
      order by own.${key} limit 1
    ) as first where first.${key} = ${of}.${by}
  )`;

/** The same as it was: the index that seemed best to the session. */
const lookUpAnyhow = (table, key, columns, { of, by = key }) => `
  cross join lateral (
    select ${columns} from ${table} as own
    where own.tenant_id = ${of}.tenant_id and own.${key} = ${of}.${by} limit 1
  )`;

const journalWallets = (find, { settings = '', first = '' }) => `
  create or replace function journal_wallets() returns trigger language plpgsql ${settings} as $$
  begin
    ${first}
    insert into journal_entry
      (tenant_id, at, kind, account_id, currency, record_type, record_id, accounts, amounts)
    select tenant_id, journal_now(tenant_id), kind, account_id, currency, 'wallet', wallet_id,
      array[
        case when is_promotional then 'promotional' else 'wallet' end,
        case when kind in ('draw', 'return') then 'unbilled'
          when is_promotional then 'promotions'
          when kind = 'expire' then 'breakage'
          when kind = 'grant' and is_paid then 'unapplied'
          else 'clearing' end
      ],
      array[-amount, amount]
    from (
      select entry.tenant_id, entry.wallet_id, entry.kind, wallet.account_id,
        coalesce(wallet.currency, 'XXX') as currency, given.kind = 'promotional' as is_promotional,
        given.payment_id is not null as is_paid, sum(entry.amount) as amount
      from (
        select tenant_id, wallet_id, grant_id, kind, sum(amount) as amount
        from added where amount <> 0 group by 1, 2, 3, 4
      ) as entry
        ${find('wallet_grant', 'id', 'kind, payment_id', { of: 'entry', by: 'grant_id' })} as given
        ${find('wallet_balance', 'wallet_id', 'account_id, currency', { of: 'entry' })} as wallet
      group by 1, 2, 3, 4, 5, 6, 7
    ) as moved where amount <> 0;
    return null;
  end $$`;

const journalItems = (posted, settings) => `
  create or replace function journal_items() returns trigger language plpgsql ${settings} as $$
  begin
    perform journal_invoices(tenant_id, ids, false) from (${posted}) as posted;
    return null;
  end $$`;

const queueUnbilledUsage = (known, settings) => `
  create or replace function queue_unbilled_usage() returns trigger language plpgsql ${settings} as $$
  begin
    if current_setting('app.correcting', true) is distinct from 'on' then
      perform pg_advisory_xact_lock_shared(usage_lock(tenant_id))
      from (select distinct tenant_id from added) as tenant;
    end if;
    -- A statement of its own, which sees what was closed before it had the lock.
    insert into unbilled_usage
      (tenant_id, account_id, transaction_date, transaction_id, contract_service_id)
    select added.tenant_id, added.account_id, transaction_date, id, contract_service_id
    from added ${known} and added.transaction_date <= known.closed_until;
    return null;
  end $$`;

export async function up(knex) {
  const settings = 'set enable_seqscan = off set enable_sort = off';
  // Holds move no money, and there are many of them.
  const first = 'if not exists (select from added where amount <> 0) then return null; end if;';
  await knex.raw(journalWallets(lookUp, { settings, first }));
  const invoice = lookUp('invoice', 'id', 'invoice_status', { of: 'item', by: 'invoice_id' });
  await knex.raw(
    journalItems(
      `select item.tenant_id, array_agg(item.invoice_id) as ids
       from (select distinct tenant_id, invoice_id from added) as item ${invoice} as invoice
       where invoice.invoice_status = 'Posted' group by 1`,
      settings,
    ),
  );
  const closed = lookUp('closed_usage', 'account_id', 'closed_until', { of: 'added' });
  await knex.raw(queueUnbilledUsage(`${closed} as known where true`, settings));
}

export async function down(knex) {
  await knex.raw(journalWallets(lookUpAnyhow, {}));
  await knex.raw(
    journalItems(
      `select item.tenant_id, array_agg(distinct item.invoice_id) as ids
       from added as item join invoice
         on invoice.tenant_id = item.tenant_id and invoice.id = item.invoice_id
       where invoice.invoice_status = 'Posted' group by 1`,
      '',
    ),
  );
  await knex.raw(
    queueUnbilledUsage(
      `join closed_usage as known
         on known.tenant_id = added.tenant_id and known.account_id = added.account_id`,
      '',
    ),
  );
}
