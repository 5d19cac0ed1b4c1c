import { Decimal, decimalText, sum, ZERO } from '../../kernel/numbers/money.js';
import { groupBy } from '../../kernel/group-by.js';
import type { PdfInvoice, PdfItem, PdfTax } from '../../messages/pdf-invoice.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import type { InvoiceItem } from '../../models/billing/invoice-item.js';
import { Invoice } from '../../models/billing/invoice.js';
import { isOwed, itemProration, missingInvoice, paidAmountOf } from './invoice.js';
import { loadPdfFacts, type PdfFacts } from './pdf-facts.js';
import { buyerOf, isPayable, nobody, sellerOf, shown } from './paper/parties.js';
import {
  listDroppedMonths,
  listDroppedMonthsOf,
  refuseArchived,
} from '../../models/usage/finding/dropped-month.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The next invoices of a run, in the order of their ids. */
export interface RenderPage {
  readonly afterId: string | null;
  readonly limit: number;
}

/** A page of invoices that have no PDF yet. */
interface PdfInvoicePage {
  readonly invoices: readonly PdfInvoice[];
  /** The last invoice of the page; null when no more follow. */
  readonly lastId: string | null;
}

/**
 * Invoices of a billing run that have no PDF yet, by keyset paging: each is read once, and one that
 * cannot be rendered is not read again.
 */
export async function loadPdfInvoicesAfter(
  scope: Scope,
  executionId: string,
  { afterId, limit }: RenderPage,
): Promise<PdfInvoicePage> {
  const { db, tenantId } = scope;
  const rows = await sqlRows<{ id: string; hasPdf: boolean }>(
    db.read,
    `select invoice.id, exists (
       select from invoice_document as document
       where document.tenant_id = invoice.tenant_id and document.invoice_id = invoice.id
         and document.content_type = 'application/pdf'
     ) as "hasPdf"
     from invoice
     where tenant_id = ? and execution_id = ? and (?::uuid is null or id > ?::uuid)
     order by id limit ?`,
    [tenantId, executionId, afterId, afterId, limit],
  );
  const invoices = await Invoice.query(db.read)
    .forTenant(tenantId)
    .whereIn(
      'id',
      rows.filter(({ hasPdf }) => !hasPdf).map(({ id }) => id),
    )
    .orderBy('id');
  const isLast = rows.length < limit;
  return {
    invoices: await presentAll(scope, invoices),
    lastId: isLast ? null : (rows.at(-1)?.id ?? null),
  };
}

/** One invoice as its PDF shows it now. 404: there is none. */
export async function loadPdfInvoice(scope: Scope, id: string): Promise<PdfInvoice> {
  const { db, tenantId } = scope;
  const invoices = await Invoice.query(db.read).forTenant(tenantId).where({ id });
  const [invoice] = await presentAll(scope, invoices);
  if (!invoice) throw missingInvoice(id);
  return invoice;
}

async function presentAll(
  { db, tenantId }: Scope,
  invoices: readonly Invoice[],
): Promise<PdfInvoice[]> {
  if (invoices.length === 0) return [];
  await Invoice.loadItems(db.read, tenantId, invoices);
  const accounts = await Account.query(db.read)
    .forTenant(tenantId)
    .whereIn(
      'id',
      invoices.map(({ accountId }) => accountId),
    )
    .withGraphFetched('addresses');
  const buyers = new Map(accounts.map((account) => [account.id, buyerOf(account)]));
  const { seller, payment, hasUsage } = await sellerOf(db.read, tenantId);
  if ((await listDroppedMonths(db.read, tenantId)).length > 0) {
    for (const { id } of invoices) {
      refuseArchived(await listDroppedMonthsOf(db.read, tenantId, id));
    }
  }
  const facts = await loadPdfFacts(db.read, tenantId, invoices, hasUsage);
  return invoices.map((invoice) => ({
    ...pdfInvoice(invoice, facts),
    seller,
    buyer: buyers.get(invoice.accountId) ?? nobody,
    payment: isPayable(invoice) ? payment : null,
    usage: hasUsage ? (facts.usage.get(invoice.id) ?? []) : null,
  }));
}

/** The taxes of an invoice by their rates. */
function taxesOf(items: readonly InvoiceItem[]): PdfTax[] {
  const taxed = items.filter(({ taxRate }) => taxRate !== null);
  const byRate = groupBy(taxed, ({ taxRate }) => decimalText(new Decimal(taxRate ?? 0)));
  const rates = [...byRate].sort(([a], [b]) => new Decimal(a).comparedTo(b));
  return rates.map(([rate, own]) => ({
    rate,
    base: decimalText(sum(own.map(({ amount }) => new Decimal(amount)))),
    tax: decimalText(sum(own.map(({ tax }) => new Decimal(tax)))),
  }));
}

type InvoiceContent = Omit<PdfInvoice, 'seller' | 'buyer' | 'payment' | 'usage'>;

function pdfInvoice(invoice: Invoice, facts: PdfFacts): InvoiceContent {
  const { id, invoiceNo, invoiceDate, dueDate, periodStart, periodEnd, currency } = invoice;
  const { amount, taxAmount, items = [] } = invoice;
  const contract = contractOf(invoice, facts);
  return {
    id,
    title: invoice.invoiceType,
    invoiceNo,
    invoiceDate,
    dueDate,
    periodStart,
    periodEnd,
    currency,
    minorDigits: referenceData.currency(currency)?.minorDigits ?? 2,
    isCredit: invoice.invoiceType === 'Credit Note',
    credited: creditedBy(invoice, facts),
    isVoid: invoice.voidedAt !== null,
    amount,
    taxAmount,
    taxes: taxesOf(items),
    ...paidOf(invoice),
    ...contract,
    items: items.map((item) => pdfItem(item, facts, contract.contractNumber === null)),
  };
}

/** What a credit note against an invoice says of that. */
function creditedBy({ creditedInvoiceId, creditReason }: Invoice, facts: PdfFacts) {
  const invoiceNo = facts.creditedNumbers.get(creditedInvoiceId ?? '');
  return invoiceNo === undefined ? null : { invoiceNo, reason: creditReason ?? '' };
}

/**
 * The total, and what of it is paid and due; nothing is of a void invoice. What was credited since is
 * said by the credit note.
 */
function paidOf(invoice: Invoice) {
  const total = new Decimal(invoice.amount).plus(invoice.taxAmount);
  const paid = paidAmountOf(invoice);
  return {
    total: decimalText(total),
    paid: decimalText(paid),
    due: decimalText(isOwed(invoice) ? total.minus(paid) : ZERO),
  };
}

/** Numbers that a buyer looks for, where there is only one. */
function contractOf({ contractId, items = [] }: Invoice, facts: PdfFacts) {
  const whole = facts.contracts.get(contractId ?? '');
  const ofItems = items.map((item) => facts.contractsByLine.get(item.contractServiceId ?? ''));
  const [first = whole] = ofItems;
  const isOne = ofItems.every((contract) => contract?.number === first?.number);
  const contract = whole ?? (isOne ? first : undefined);
  return { contractNumber: contract?.number ?? null, poNumber: contract?.poNumber ?? null };
}

function pdfItem(item: InvoiceItem, facts: PdfFacts, namesContract: boolean): PdfItem {
  const service = facts.serviceLabels.get(item.serviceId ?? '') ?? item.serviceName;
  const contract = namesContract
    ? facts.contractsByLine.get(item.contractServiceId ?? '')
    : undefined;
  const { count = 0, steps = [] } = facts.computations.get(item.id) ?? {};
  const { description, billStartDate, billEndDate, amount, tax } = item;
  const rate = item.ratePerUnit === null ? null : decimalText(new Decimal(item.ratePerUnit));
  return {
    description: description ?? service ?? '',
    detail: shown([service === description ? null : service, contract?.number]).join('  ·  '),
    unit: item.unit,
    method: item.priceMethodType,
    exactAmount: item.exactAmount,
    tiers: item.tiers ?? [],
    proration: itemProration(item),
    steps,
    stepsOf: count,
    from: billStartDate,
    to: billEndDate,
    amount,
    tax,
    volume: decimalText(new Decimal(item.volume)),
    rate,
    taxRate: item.taxRate === null ? null : decimalText(new Decimal(item.taxRate)),
  };
}
