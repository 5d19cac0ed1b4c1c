import type { Knex } from 'knex';
import { Model } from 'objection';
import type * as schema from '../../schemas/billing/invoice.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { InvoiceItem } from './invoice-item.js';
import { TenantModel } from '../db/tenant-model.js';

export interface Invoice extends Columns<
  typeof schema.InvoiceSummary,
  'accountName' | 'total' | 'dueStatus' | 'paidAmount'
> {}
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

  /** The first due date of what may become overdue; undefined: nothing may. */
  static async nextDueDate(db: Knex, tenantId: string): Promise<string | undefined> {
    const next = await this.query(db)
      .forTenant(tenantId)
      .select('dueDate')
      .where('balance', '>', 0)
      .whereNull('overdueAt')
      .whereNotNull('dueDate')
      .where({ invoiceType: 'Invoice', invoiceStatus: 'Posted' })
      .orderBy(['dueDate', 'id'])
      .first();
    return next?.dueDate ?? undefined;
  }

  /** Whether its amounts have the opposite sign of the charges of which it is made. */
  declare isReversed: boolean;
  /** The execution of the billing run that made it. */
  declare executionId: string | null;
  /** How many rated transactions it claimed. */
  declare transactionCount: number | null;
  /** When it was found to be overdue. */
  declare overdueAt: Date | null;
  declare voidedAt: Date | null;
  declare voidReason: string | null;
  /** Of a credit note against an invoice. */
  declare creditReason: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare items?: InvoiceItem[];
}
