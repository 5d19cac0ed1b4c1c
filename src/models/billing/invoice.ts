import type { Knex } from 'knex';
import type * as schema from '../../schemas/billing/invoice.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { InvoiceItem } from './invoice-item.js';
import { readRecords } from '../db/read-records.js';
import { TenantModel } from '../db/tenant-model.js';

export interface Invoice extends Columns<
  typeof schema.InvoiceSummary,
  'accountName' | 'total' | 'dueStatus' | 'paidAmount'
> {}
/** No invoice has more items. */
const positionsMax = 1_000_000_000;

const itemsSql = `
  select * from invoice_item
  where tenant_id = $1 and invoice_id = any($2::uuid[]) and position >= $3::bigint
    and position < $3::bigint + $4::bigint
  order by invoice_id, position`;

/** What a billing run charges an account. It is never deleted: a wrong one is voided. */
export class Invoice extends TenantModel {
  static override tableName = 'invoice';

  /** Gives invoices their items, of which each may have thousands, in their order: those of some positions. */
  static async loadItems(
    db: Knex,
    tenantId: string,
    invoices: readonly Invoice[],
    { from = 0, count = positionsMax }: { readonly from?: number; readonly count?: number } = {},
  ): Promise<void> {
    const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
    for (const invoice of invoices) invoice.items = [];
    const values = [[...byId.keys()], from, count];
    const items = await readRecords(InvoiceItem, db, tenantId, itemsSql, values);
    for (const item of items) byId.get(item.invoiceId)?.items?.push(item);
  }

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
