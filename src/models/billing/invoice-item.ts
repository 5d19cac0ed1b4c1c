import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import type * as schema from '../../schemas/billing/invoice-item.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { TenantModel } from '../db/tenant-model.js';

export interface InvoiceItem extends Columns<
  typeof schema.InvoiceItem,
  'currency' | 'proration' | 'tiers'
> {}
/** One charge of an invoice; service name and code are as they were when it was billed. */
export class InvoiceItem extends TenantModel {
  static override tableName = 'invoice_item';
  static override jsonAttributes = ['tiers'];

  /** Counted from 0 in the invoice. */
  declare position: number;
  declare contractServiceId: string | null;
  declare dimensionId: string | null;
  /** Where a part of the period is charged: its days, and those of the period. */
  declare chargedDays: number | null;
  declare periodDays: number | null;
  declare tiers: readonly ChargedTier[] | null;
  /** The amount before its one rounding, as decimal text; null of items that no billing run made. */
  declare exactAmount: string | null;
  declare taxCode: string | null;
  /** Percent. */
  declare taxRate: string | null;
  /** What notes have credited of the tax. */
  declare creditedTax: string;
  declare createdAt: Date;
}
