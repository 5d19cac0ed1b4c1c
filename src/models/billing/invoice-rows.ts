import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { BulkTable } from '../db/bulk-table.js';

/** An invoice as a billing run writes it. */
export interface InvoiceRow {
  readonly id: string;
  readonly invoiceNo: string;
  readonly invoiceDate: string;
  readonly dueDate: string | null;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly accountId: string;
  readonly contractId: string | null;
  readonly invoiceStatus: string;
  readonly invoiceType: string;
  readonly isReversed: 'true' | 'false';
  readonly currency: string;
  readonly amount: Decimal;
  readonly taxAmount: Decimal;
  readonly balance: Decimal;
  readonly paymentStatus: string;
  readonly executionId: string;
  readonly transactionCount: number;
}

export interface InvoiceItemRow {
  readonly id: string;
  readonly invoiceId: string;
  readonly position: number;
  readonly serviceId: string | null;
  readonly serviceName: string | null;
  readonly serviceCode: string | null;
  readonly contractServiceId: string | null;
  readonly dimensionId: string | null;
  readonly description: string | null;
  readonly volume: Decimal;
  readonly unit: string | null;
  readonly ratePerUnit: Decimal | null;
  readonly chargedDays: number | null;
  readonly periodDays: number | null;
  /** JSON. */
  readonly tiers: string | null;
  readonly exactAmount: Decimal;
  readonly amount: Decimal;
  readonly tax: Decimal;
  readonly taxCode: string | null;
  readonly taxRate: Decimal | null;
  readonly balance: Decimal;
  readonly chargeType: string;
  readonly priceMethodType: string | null;
  readonly billStartDate: string;
  readonly billEndDate: string;
  readonly correctedInvoiceId: string | null;
}

const invoices = new BulkTable<InvoiceRow>('invoice', {
  id: 'uuid',
  invoiceNo: 'text',
  invoiceDate: 'date',
  dueDate: 'date',
  periodStart: 'date',
  periodEnd: 'date',
  accountId: 'uuid',
  contractId: 'uuid',
  invoiceStatus: 'text',
  invoiceType: 'text',
  isReversed: 'boolean',
  currency: 'text',
  amount: 'numeric',
  taxAmount: 'numeric',
  balance: 'numeric',
  paymentStatus: 'text',
  executionId: 'uuid',
  transactionCount: 'integer',
});

/** The columns that items of invoices and of notes against them have. */
export const itemColumns = {
  id: 'uuid',
  invoiceId: 'uuid',
  position: 'integer',
  serviceId: 'uuid',
  serviceName: 'text',
  serviceCode: 'text',
  contractServiceId: 'uuid',
  dimensionId: 'uuid',
  description: 'text',
  volume: 'numeric',
  unit: 'text',
  ratePerUnit: 'numeric',
  chargedDays: 'integer',
  periodDays: 'integer',
  tiers: 'jsonb',
  exactAmount: 'numeric',
  amount: 'numeric',
  tax: 'numeric',
  taxCode: 'text',
  taxRate: 'numeric',
  balance: 'numeric',
  chargeType: 'text',
  priceMethodType: 'text',
  billStartDate: 'date',
  billEndDate: 'date',
} as const;

const items = new BulkTable<InvoiceItemRow>('invoice_item', {
  ...itemColumns,
  correctedInvoiceId: 'uuid',
});

/** Writes invoices with their items. */
export async function insertInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  rows: readonly InvoiceRow[],
  itemRows: readonly InvoiceItemRow[],
): Promise<void> {
  await invoices.insert(trx, tenantId, rows);
  await items.insert(trx, tenantId, itemRows);
}
