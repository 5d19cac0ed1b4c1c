import { pricedRowsSql } from '../../models/usage/priced-row.js';

/** SQL for the parts of items: a whole transaction, or the dimension of one row. */
export const invoicePartsSql = `
  from invoice_usage as usage
  cross join unnest(usage.transaction_ids) with ordinality as known (id, number)
  join rated_transaction as t on t.tenant_id = usage.tenant_id and t.id = known.id
  ${pricedRowsSql('left join', 'd.rate_card_row_id = usage.rate_card_row_id')}
  where usage.tenant_id = ? and usage.invoice_id = ?`;
