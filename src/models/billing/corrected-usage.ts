/** Columns of usage that was perhaps corrected, and of usage of which nothing ever was. */
export const correctedColumns = `, t.usage_event_id, t.reverses, t.correction_id`;
export const uncorrectedColumns = `, null::uuid as corrected_invoice_id`;

/**
 * What was corrected: a charge whose reversal is billed with it is left out with that, for together
 * they are nothing, unless grants have paid of such pairs something else than they got back. Of what is left, a reversal and what came in its place say which invoice has a
 * charge of the same event, the first one; an invoice of the account that is not void.
 *
 * A charge of INV-1 was corrected twice before the next run: its reversal and the newest charge name
 * INV-1, the charge between and its reversal are gone.
 */
export const correctedSql = `
  gone as materialized (
    select id, reverses from (
      select back.id, back.reverses, sum(back.paid + charge.paid) over (
          partition by back.account_id, back.currency, back.service_id, back.rate_card_row_id
        ) as paid
      from found as back join found as charge on charge.id = back.reverses
      where back.reverses is not null and coalesce(back.position, 0) = 0
        and coalesce(charge.position, 0) = 0
    ) as pair where paid = 0
  ), left_over as (
    select * from found where not exists (
      select from gone where gone.id = found.id or gone.reverses = found.id
    )
  ), earlier as (
    select distinct left_over.id, left_over.account_id, left_over.transaction_date, number,
      usage_charge_id(usage_event_id, number) as charge_id
    from left_over
    cross join lateral generate_series(1, usage_charge_number(left_over.id) - 1) as number
    where correction_id is not null
  ), invoiced as (
    select distinct on (earlier.id) earlier.id, known.invoice_id
    from (
      select usage.invoice_id, invoice.account_id, charge_id
      from invoice join invoice_usage as usage
        on usage.tenant_id = :tenantId and usage.invoice_id = invoice.id
      cross join unnest(usage.transaction_ids) as charge_id
      where invoice.tenant_id = :tenantId and invoice.invoice_status <> 'Void'
        and invoice.account_id in (select account_id from earlier)
        and invoice.period_end >= (select min(transaction_date) from earlier)
    ) as known
    join earlier on earlier.charge_id = known.charge_id and earlier.account_id = known.account_id
    order by earlier.id, earlier.number
  ), unbilled as (
    select left_over.*, invoiced.invoice_id as corrected_invoice_id
    from left_over left join invoiced on invoiced.id = left_over.id
  )`;
