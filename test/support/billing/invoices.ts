import type { Scope } from '../../../src/kernel/scope.js';
import { InvoiceDocument } from '../../../src/models/billing/invoice-document.js';
import { InvoiceItem } from '../../../src/models/billing/invoice-item.js';
import { Invoice } from '../../../src/models/billing/invoice.js';

interface InvoiceParts {
  readonly invoice: Partial<Invoice> & Pick<Invoice, 'accountId' | 'invoiceNo'>;
  readonly items?: readonly Partial<InvoiceItem>[];
  readonly pdf?: Pick<InvoiceDocument, 'fileName' | 'bytes'>;
}

/** Stores an invoice as a billing run would: no operation of the API makes one. */
export async function storeInvoice(
  { db, tenantId }: Scope,
  { invoice, items = [], pdf }: InvoiceParts,
): Promise<string> {
  return db.transaction(async (trx) => {
    const { id: invoiceId } = await Invoice.query(trx)
      .forTenant(tenantId)
      .insert({
        invoiceDate: '2026-04-01',
        invoiceStatus: 'Posted',
        invoiceType: 'Invoice',
        currency: 'USD',
        amount: '0',
        balance: '0',
        ...invoice,
      });
    if (items.length > 0) {
      await InvoiceItem.query(trx)
        .forTenant(tenantId)
        .insert(
          items.map((item, position) => ({
            volume: '1',
            amount: '0',
            balance: '0',
            chargeType: 'Usage',
            invoiceId,
            position,
            ...item,
          })),
        );
    }
    if (pdf) {
      await InvoiceDocument.query(trx)
        .forTenant(tenantId)
        .insert({ invoiceId, contentType: 'application/pdf', ...pdf });
    }
    return invoiceId;
  });
}
