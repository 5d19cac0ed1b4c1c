import type { Knex } from 'knex';
import { Decimal, decimalText } from '../kernel/money.js';
import type { PdfInvoice, PdfItem } from '../kernel/pdf-invoice.js';
import { referenceData } from '../kernel/reference-data.js';
import type { Scope } from '../kernel/scope.js';
import { Account } from '../models/account.js';
import type { InvoiceItem } from '../models/invoice-item.js';
import { Invoice } from '../models/invoice.js';

/** Invoices of a billing run that have no PDF yet, in the order of their numbers. */
export async function loadPdfInvoices(
  { db, tenantId }: Scope,
  executionId: string,
  limit: number,
): Promise<PdfInvoice[]> {
  const invoices = await Invoice.query(db.read)
    .forTenant(tenantId)
    .where({ executionId })
    .whereRaw(
      `not exists (
         select from invoice_document as document
         where document.tenant_id = invoice.tenant_id and document.invoice_id = invoice.id
           and document.content_type = 'application/pdf'
       )`,
    )
    .orderBy('invoiceNo')
    .limit(limit)
    .withGraphFetched('items');
  if (invoices.length === 0) return [];
  const accounts = await Account.query(db.read)
    .forTenant(tenantId)
    .whereIn(
      'id',
      invoices.map(({ accountId }) => accountId),
    )
    .withGraphFetched('addresses');
  const buyers = new Map(accounts.map((account) => [account.id, linesOf(account)]));
  const seller = await sellerOf(db.read, tenantId);
  return invoices.map((invoice) =>
    pdfInvoice(invoice, seller, buyers.get(invoice.accountId) ?? []),
  );
}

async function sellerOf(db: Knex, tenantId: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    'select name from tenant where id = ?',
    [tenantId],
  );
  return [rows[0]?.name ?? tenantId];
}

/** Name, address and tax numbers, as a letter has them. */
function linesOf({ name, number, gst, pan, cin, addresses = [] }: Account): string[] {
  const [address] = addresses;
  const place = [address?.zipCode, address?.city, address?.state]
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
  const labelled = (label: string, value: string | null | undefined): string =>
    value === null || value === undefined ? '' : `${label} ${value}`;
  const lines = [
    ...[name, address?.line1, address?.line2, place, address?.country],
    labelled('Tax id', address?.taxId),
    ...[labelled('GST', gst), labelled('PAN', pan), labelled('CIN', cin)],
    labelled('Account', number),
  ];
  return lines.flatMap((line) =>
    line === undefined || line === null || line === '' ? [] : [line],
  );
}

function pdfInvoice(
  invoice: Invoice,
  seller: readonly string[],
  buyer: readonly string[],
): PdfInvoice {
  const { id, invoiceNo, invoiceDate, dueDate, periodStart, periodEnd, currency } = invoice;
  const { amount, taxAmount } = invoice;
  return {
    ...{ id, title: invoice.invoiceType, invoiceNo, invoiceDate, dueDate, periodStart, periodEnd },
    ...{ currency, minorDigits: referenceData.currency(currency)?.minorDigits ?? 2 },
    ...{ seller, buyer, amount, taxAmount },
    total: decimalText(new Decimal(amount).plus(taxAmount)),
    items: (invoice.items ?? []).map(pdfItem),
  };
}

function pdfItem(item: InvoiceItem): PdfItem {
  const { description, serviceName, billStartDate, billEndDate, amount, tax } = item;
  const rate = item.ratePerUnit === null ? null : decimalText(new Decimal(item.ratePerUnit));
  return {
    description: description ?? serviceName ?? '',
    detail: serviceName !== null && serviceName !== description ? serviceName : '',
    ...{ from: billStartDate, to: billEndDate, amount, tax },
    volume: decimalText(new Decimal(item.volume)),
    rate,
    taxRate: item.taxRate === null ? null : decimalText(new Decimal(item.taxRate)),
  };
}
