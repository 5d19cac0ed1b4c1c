import { Model } from 'objection';
import { InvoiceItem } from './invoice-item.js';
import { TenantModel } from '../db/tenant-model.js';

/** What a billing run charges an account. It is never deleted: a wrong one is voided. */
export class Invoice extends TenantModel {
  static override tableName = 'invoice';
  static override relationMappings = {
    items: {
      relation: Model.HasManyRelation,
      modelClass: InvoiceItem,
      join: { from: 'invoice.id', to: 'invoice_item.invoiceId' },
      modify: (builder: { orderBy(column: string): void }) => builder.orderBy('position'),
    },
  };

  declare invoiceNo: string;
  declare invoiceDate: string;
  declare dueDate: string | null;
  declare periodStart: string | null;
  declare periodEnd: string | null;
  declare accountId: string;
  declare contractId: string | null;
  declare invoiceStatus: string;
  declare invoiceType: string;
  /** Whether its amounts have the opposite sign of the charges of which it is made. */
  declare isReversed: boolean;
  /** ISO code. */
  declare currency: string;
  /** Amounts are decimal text. */
  declare amount: string;
  declare taxAmount: string;
  declare balance: string;
  declare paymentStatus: string;
  declare approvalStatus: string;
  /** The execution of the billing run that made it. */
  declare executionId: string | null;
  /** How many rated transactions it claimed. */
  declare transactionCount: number | null;
  /** When it was found to be overdue. */
  declare overdueAt: Date | null;
  declare voidedAt: Date | null;
  declare voidReason: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare items?: InvoiceItem[];
}
