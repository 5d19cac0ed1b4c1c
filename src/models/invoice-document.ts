import { TenantModel } from './tenant-model.js';

/** A stored file of an invoice: at most one of each content type. */
export class InvoiceDocument extends TenantModel {
  static override tableName = 'invoice_document';

  declare invoiceId: string;
  declare fileName: string;
  declare contentType: string;
  declare bytes: Buffer;
  declare createdAt: Date;
}
