import type { PdfInvoice } from '../kernel/pdf-invoice.js';
import type { Scope } from '../kernel/scope.js';
import { InvoiceDocument } from '../models/invoice-document.js';

/** Keeps the PDF of an invoice; one that is there stays. */
export async function storeInvoicePdf(
  { db, tenantId }: Scope,
  { id, invoiceNo }: PdfInvoice,
  bytes: Buffer,
): Promise<void> {
  await db.transaction(async (trx) => {
    await InvoiceDocument.query(trx)
      .forTenant(tenantId)
      .insert({
        ...{ invoiceId: id, fileName: `${invoiceNo}.pdf`, contentType: 'application/pdf', bytes },
      })
      .onConflict(['tenant_id', 'invoice_id', 'content_type'])
      .ignore();
  });
}
