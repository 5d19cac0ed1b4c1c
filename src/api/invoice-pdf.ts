import { storeInvoicePdf } from '../commands/invoice-pdf.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../platform/platform.js';
import { loadPdfInvoice } from '../queries/invoice-pdf.js';
import { findInvoicePdf } from '../queries/invoice.js';
import type { StoredFile } from '../schemas/operation.js';

/**
 * The PDF of an invoice as it is now: one that was voided shows it, in a copy that is made when it is
 * first asked for (docs/decisions/0158). 404: there is no such invoice, or no PDF of it yet.
 */
export async function invoicePdf(
  scope: Scope,
  { invoices }: Platform,
  id: string,
): Promise<StoredFile> {
  const stored = await findInvoicePdf(scope, id);
  if (stored) return stored;
  const invoice = await loadPdfInvoice(scope, id);
  return storeInvoicePdf(scope, invoice, await invoices.render(invoice));
}
