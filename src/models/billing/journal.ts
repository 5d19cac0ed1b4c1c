/**
 * What the books say that accounts of the ledger hold: account_id, currency, account and amount, from
 * invoices, payments, wallets and charges. Usage is that of the merged totals, as the journal has it.
 */
export const bookedBalancesSql = `
  select account_id, currency, account, sum(amount) as amount from (
    select account_id, currency, 'receivable' as account,
      case when invoice_type = 'Credit Note' then -balance else balance end as amount
    from invoice where tenant_id = :tenantId and invoice_status = 'Posted'
    union all
    select account_id, currency, posting.account, posting.sign * journal_cash(payment)
    from payment cross join (values ('cash', 1), ('unapplied', -1)) as posting (account, sign)
    where payment.tenant_id = :tenantId
    union all
    select invoice.account_id, invoice.currency, 'unapplied',
      case when invoice.invoice_type = 'Credit Note' then -one.amount else one.amount end
    from payment_application as one join invoice
      on invoice.tenant_id = one.tenant_id and invoice.id = one.invoice_id
    where one.tenant_id = :tenantId
    union all
    select wallet.account_id, coalesce(wallet.currency, 'XXX'), 'unapplied', given.amount
    from wallet_grant as given join wallet_balance as wallet
      on wallet.tenant_id = given.tenant_id and wallet.wallet_id = given.wallet_id
    where given.tenant_id = :tenantId and given.payment_id is not null
      and given.entered_at is not null
    union all
    select wallet.account_id, coalesce(wallet.currency, 'XXX'),
      case given.kind when 'promotional' then 'promotional' else 'wallet' end, -given.rest
    from wallet_grant as given join wallet_balance as wallet
      on wallet.tenant_id = given.tenant_id and wallet.wallet_id = given.wallet_id
    where given.tenant_id = :tenantId and given.entered_at is not null
    union all
    select wallet.account_id, coalesce(wallet.currency, 'XXX'), 'unbilled', entry.amount
    from wallet_entry as entry join wallet_balance as wallet
      on wallet.tenant_id = entry.tenant_id and wallet.wallet_id = entry.wallet_id
    where entry.tenant_id = :tenantId and entry.kind in ('draw', 'return')
    union all
    select part.account_id, part.currency, 'unbilled',
      case when part.usage_type = 'Payout' then -value.amount else value.amount end
    from usage_total as total cross join unnest(amounts) with ordinality as value (amount, position)
      join usage_combination_part as part on part.tenant_id = total.tenant_id
        and part.combination_id = total.combination_id and part.position = value.position
    where total.tenant_id = :tenantId and total.grain = 'day' and part.attribute_name is null
    union all
    select account_id, currency, posting.account,
      case when usage_type = 'Payout' then -posting.amount else posting.amount end
    from recurring_charge as charge join journal_state as state using (tenant_id)
      cross join lateral (values
        ('unbilled', charge.amount),
        ('deferred', journal_recognized(charge.charge_type, charge.amount, charge.bill_start_date,
          charge.bill_end_date, state.recognized_until) - charge.amount)
      ) as posting (account, amount)
    where tenant_id = :tenantId and voided_at is null
    union all
    select account_id, currency, 'unbilled', amount
    from adjustment_charge where tenant_id = :tenantId and voided_at is null
    union all
    select account_id, currency, 'unbilled', amount - discounted - credited
    from billed_difference where tenant_id = :tenantId and is_credited and voided_at is null
    union all
    select invoice.account_id, invoice.currency, 'unbilled',
      case when invoice.invoice_type = 'Credit Note' then 1 else -1 end
        * coalesce(item.exact_amount, item.amount)
    from invoice join invoice_item as item
      on item.tenant_id = invoice.tenant_id and item.invoice_id = invoice.id
    where invoice.tenant_id = :tenantId and invoice.invoice_status = 'Posted'
      and invoice.credited_invoice_id is null
  ) as booked group by account_id, currency, account`;

/** The balances that the journal and the books can be compared by: what stands, and no results. */
const comparedAccounts = `'receivable', 'unbilled', 'cash', 'unapplied', 'wallet', 'promotional',
  'deferred'`;

/**
 * Where the journal and the books differ: account_id, currency, account, recorded and computed. One
 * statement, so that both are of one snapshot; empty while totals are made again.
 */
export const journalDifferencesSql = `
  select coalesce(booked.account_id, journal.account_id) as account_id,
    coalesce(booked.currency, journal.currency) as currency,
    coalesce(booked.account, journal.account) as account,
    coalesce(journal.amount, 0) as recorded, coalesce(booked.amount, 0) as computed
  from (${bookedBalancesSql}) as booked full join (
    select account_id, currency, posting.account, sum(posting.amount) as amount
    from journal_entry cross join unnest(accounts, amounts) as posting (account, amount)
    where tenant_id = :tenantId and posting.account in (${comparedAccounts})
    group by 1, 2, 3
  ) as journal on journal.account_id = booked.account_id and journal.currency = booked.currency
    and journal.account = booked.account
  where coalesce(journal.amount, 0) <> coalesce(booked.amount, 0)
    and not exists (select from usage_total_rebuild where tenant_id = :tenantId)`;
