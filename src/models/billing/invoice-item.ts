import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import { TenantModel } from '../db/tenant-model.js';

/** One charge of an invoice. */
export class InvoiceItem extends TenantModel {
  static override tableName = 'invoice_item';
  static override jsonAttributes = ['tiers'];

  declare invoiceId: string;
  /** Counted from 0 in the invoice. */
  declare position: number;
  declare serviceId: string | null;
  /** Name and code as they were when it was billed. */
  declare serviceName: string | null;
  declare serviceCode: string | null;
  declare contractServiceId: string | null;
  declare dimensionId: string | null;
  declare description: string | null;
  /** Volumes, rates and amounts are decimal text. */
  declare volume: string;
  /** What the volume counts. */
  declare unit: string | null;
  declare ratePerUnit: string | null;
  /** Where a part of the period is charged: its days, and those of the period. */
  declare chargedDays: number | null;
  declare periodDays: number | null;
  declare tiers: readonly ChargedTier[] | null;
  /** Before its one rounding; null of items that no billing run made. */
  declare exactAmount: string | null;
  declare amount: string;
  declare tax: string;
  declare balance: string;
  declare taxCode: string | null;
  /** Percent. */
  declare taxRate: string | null;
  declare chargeType: string;
  declare priceMethodType: string | null;
  declare billStartDate: string | null;
  declare billEndDate: string | null;
  declare createdAt: Date;
}
