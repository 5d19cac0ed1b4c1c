import type { PdfInvoice } from '../../messages/pdf-invoice.js';
import type { Scope } from '../../kernel/scope.js';
import { InvoiceDocument } from '../../models/billing/invoice-document.js';
import type { StoredFile } from '../../schemas/http/operation.js';

/** Stores the PDF of an invoice and returns it; a PDF that is stored already is kept. */
export async function storeInvoicePdf(
  { db, tenantId }: Scope,
  { id, invoiceNo, isVoid }: PdfInvoice,
  bytes: Buffer,
): Promise<StoredFile> {
  const fileName = `${invoiceNo}.pdf`;
  await db.transaction(async (trx) => {
    await InvoiceDocument.query(trx)
      .forTenant(tenantId)
      .insert({ invoiceId: id, fileName, contentType: 'application/pdf', isVoid, bytes })
      .onConflict(['tenant_id', 'invoice_id', 'content_type', 'is_void'])
      .ignore();
  });
  return { fileName, bytes };
}
