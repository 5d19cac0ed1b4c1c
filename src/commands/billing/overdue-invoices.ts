import { utcDate } from '../../kernel/time/date.js';
import type { Scope } from '../../kernel/scope.js';
import { Invoice } from '../../models/billing/invoice.js';
import { recordInvoiceEvents } from './invoice-event.js';

/**
 * Marks open invoices past their due date as overdue, at most `limit`, and records one webhook
 * event for each (docs/decisions/0230). Returns how many were marked; rows locked by another
 * process are skipped.
 */
export async function markOverdueInvoices(scope: Scope, limit: number): Promise<number> {
  const { tenantId, now } = scope;
  const at = now();
  return scope.db.transaction(async (trx) => {
    const found = await Invoice.query(trx)
      .forTenant(tenantId)
      .select('id')
      .where('balance', '>', 0)
      .whereNull('overdueAt')
      .where('dueDate', '<', utcDate(at))
      .where({ invoiceType: 'Invoice', invoiceStatus: 'Posted' })
      .orderBy(['dueDate', 'id'])
      .limit(limit)
      .forNoKeyUpdate()
      .skipLocked();
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    await Invoice.query(trx).forTenant(tenantId).whereIn('id', ids).patch({ overdueAt: at });
    await recordInvoiceEvents(scope, trx, 'invoice.overdue', ids);
    return ids.length;
  });
}
