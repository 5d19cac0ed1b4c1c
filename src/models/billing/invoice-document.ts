import { TenantModel } from '../db/tenant-model.js';

/** A stored file of an invoice: at most one of each content type, and one that says that it is void. */
export class InvoiceDocument extends TenantModel {
  static override tableName = 'invoice_document';

  declare invoiceId: string;
  declare fileName: string;
  declare contentType: string;
  /** Whether it shows that the invoice is void. */
  declare isVoid: boolean;
  declare bytes: Buffer;
  declare createdAt: Date;
}
