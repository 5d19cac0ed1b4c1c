import { storeInvoicePdf } from '../commands/billing/invoice-pdf.js';
import type { Scope } from '../kernel/scope.js';
import type { Platform } from '../process/platform.js';
import { loadPdfInvoice } from '../queries/billing/invoice-pdf.js';
import { findInvoicePdf } from '../queries/billing/invoice.js';
import type { StoredFile } from '../schemas/http/operation.js';

/**
 * The PDF of an invoice as it is now: one that was voided shows it, in a copy that is made when it is
 * first asked for (docs/decisions/0158), as is that of a credit note against an invoice (0374). 404: there is no such invoice, or no PDF of it yet.
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
