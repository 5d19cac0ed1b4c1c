import type { Static } from 'typebox';
import { ZERO } from '../../kernel/numbers/money.js';
import { Portions } from '../../kernel/portions.js';
import type { Days } from '../../kernel/time/billing-calendar.js';
import { dueStatusOf } from '../../kernel/time/due-date.js';
import type { InvoiceItemRow, InvoiceRow } from '../../models/billing/invoice-rows.js';
import { presentTier } from '../../queries/billing/invoice.js';
import { itemBytesMax, weightOf } from '../../queries/billing/item-page.js';
import type { ChargeNames } from '../../queries/billing/charge-names.js';
import type * as schema from '../../schemas/billing/invoice.js';
import type { DraftItem, InvoiceDraft } from './invoice-draft.js';

/** An invoice as it was posted, or, without a number, would be. */
export interface BilledInvoice extends InvoiceDraft {
  readonly invoiceNo: string | null;
  readonly invoiceDate: string;
  readonly dueDate: string | null;
  readonly period: Days;
  readonly accountName: string | null;
  readonly names: ChargeNames;
}

/** The row of a posted invoice. */
export function invoiceRow(
  invoice: BilledInvoice & { readonly invoiceNo: string },
  executionId: string,
): InvoiceRow {
  const { id, accountId, contractId, invoiceType, currency, amount, taxAmount } = invoice;
  const total = amount.plus(taxAmount);
  return {
    id,
    accountId,
    contractId,
    invoiceType,
    currency,
    amount,
    taxAmount,
    executionId,
    isReversed: invoice.isReversed ? 'true' : 'false',
    invoiceNo: invoice.invoiceNo,
    invoiceDate: invoice.invoiceDate,
    dueDate: invoice.dueDate,
    periodStart: invoice.period.first,
    periodEnd: invoice.period.last,
    invoiceStatus: 'Posted',
    balance: total,
    paymentStatus: total.isZero() ? 'Paid' : 'Unpaid',
    transactionCount: invoice.transactions,
  };
}

/** The row of an item of it. */
export function itemRow(
  item: DraftItem,
  position: number,
  { services }: ChargeNames,
): InvoiceItemRow {
  const service = services.get(item.serviceId ?? '');
  const { invoiceId, serviceId, contractServiceId, dimensionId, description, volume } = item;
  return {
    invoiceId,
    position,
    serviceId,
    contractServiceId,
    dimensionId,
    description,
    volume,
    id: item.itemId,
    serviceName: service?.name ?? null,
    serviceCode: service?.code ?? null,
    unit: item.unit,
    ratePerUnit: item.rate,
    chargedDays: item.proration?.days ?? null,
    periodDays: item.proration?.of ?? null,
    tiers: item.tiers.length === 0 ? null : JSON.stringify(item.tiers),
    exactAmount: item.amount,
    amount: item.rounded,
    tax: item.tax,
    taxCode: item.taxCode,
    taxRate: item.taxRate,
    balance: item.rounded.plus(item.tax),
    chargeType: item.chargeType,
    priceMethodType: item.priceMethod,
    billStartDate: item.firstDate,
    billEndDate: item.lastDate,
    correctedInvoiceId: item.correctedInvoiceId,
  };
}

/** The first items of an invoice as the API shows them, as many as fit into these bytes. */
async function presentItems(
  { items, names, currency }: BilledInvoice,
  bytesMax: number,
  portions: Portions,
) {
  const shown: ReturnType<typeof presentBilledItem>[] = [];
  let bytes = 0;
  for (const [position, draft] of items.entries()) {
    const { proration, tiers } = draft;
    const row = { ...itemRow(draft, position, names), proration, tiers };
    bytes += weightOf(row);
    if (position > 0 && bytes > bytesMax) break;
    shown.push(presentBilledItem(row, currency));
    if (portions.isOver) await portions.rest();
  }
  return shown;
}

type ShownItems = Awaited<ReturnType<typeof presentItems>>;

/** An invoice of a run as the API shows it; a draft, of a dry run, has no number. */
type ShownInvoice = Omit<Static<typeof schema.Invoice>, 'invoiceNo'> & {
  readonly invoiceNo: string | null;
};

/** Invoices of a run as the API shows them, in portions, each with as many items as fit into these bytes. */
export async function presentBilledInvoices(
  invoices: readonly BilledInvoice[],
  itemBytes = itemBytesMax,
  executionId: string | null = null,
): Promise<ShownInvoice[]> {
  const shown: ShownInvoice[] = [];
  const portions = new Portions();
  for (const invoice of invoices) {
    const items = await presentItems(invoice, itemBytes, portions);
    shown.push(presentBilledInvoice(invoice, items, executionId));
  }
  return shown;
}

function presentBilledInvoice(
  invoice: BilledInvoice,
  items: ShownItems,
  executionId: string | null,
): ShownInvoice {
  const { currency } = invoice;
  const row = invoiceRow({ ...invoice, invoiceNo: invoice.invoiceNo ?? '' }, '');
  return {
    id: row.id,
    invoiceNo: invoice.invoiceNo,
    invoiceDate: row.invoiceDate,
    accountId: row.accountId,
    accountName: invoice.accountName,
    invoiceStatus: invoice.invoiceNo === null ? 'Draft' : row.invoiceStatus,
    invoiceType: row.invoiceType,
    amount: row.amount,
    taxAmount: row.taxAmount,
    total: row.amount.plus(row.taxAmount),
    balance: row.balance,
    currency,
    dueDate: row.dueDate,
    periodStart: row.periodStart,
    periodEnd: row.periodEnd,
    paymentStatus: row.paymentStatus,
    approvalStatus: invoice.invoiceNo === null ? 'Draft' : 'Approved',
    dueStatus: dueStatusOf(row, row.invoiceDate),
    contractId: row.contractId,
    creditedAmount: ZERO,
    paidAmount: ZERO,
    creditedInvoiceId: null,
    voidReason: null,
    executionId,
    creditReason: null,
    invoiceFileName: null,
    nextItemOffset: items.length < invoice.items.length ? items.length : null,
    items,
  };
}

type BilledItem = Omit<ReturnType<typeof itemRow>, 'proration' | 'tiers'> &
  Pick<DraftItem, 'proration' | 'tiers'>;

function presentBilledItem(item: BilledItem, currency: string) {
  const { id, invoiceId, serviceId, description, volume, ratePerUnit, amount, tax } = item;
  const { balance, chargeType, priceMethodType, billStartDate, billEndDate } = item;
  const { serviceName, serviceCode } = item;
  return {
    id,
    invoiceId,
    serviceId,
    description,
    volume,
    ratePerUnit,
    amount,
    tax,
    balance,
    chargeType,
    priceMethodType,
    billStartDate,
    billEndDate,
    serviceName,
    serviceCode,
    currency,
    unit: item.unit,
    creditedAmount: ZERO,
    creditedItemId: null,
    correctedInvoiceId: item.correctedInvoiceId,
    proration: item.proration,
    tiers: item.tiers.map(presentTier),
  };
}
