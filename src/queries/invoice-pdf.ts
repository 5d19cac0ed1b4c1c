import type { Knex } from 'knex';
import { Decimal, decimalText, sum } from '../kernel/money.js';
import type { PdfInvoice, PdfItem, PdfParty, PdfTax } from '../kernel/pdf-invoice.js';
import { referenceData } from '../kernel/reference-data.js';
import type { Scope } from '../kernel/scope.js';
import { Account } from '../models/account.js';
import type { InvoiceItem } from '../models/invoice-item.js';
import { Invoice } from '../models/invoice.js';
import { missingInvoice } from './invoice.js';

/** The next invoices of a run, in the order of their ids. */
export interface RenderPage {
  readonly afterId: string | null;
  readonly limit: number;
}

/** What a page of invoices holds that have no PDF yet. */
interface PdfInvoicePage {
  readonly invoices: readonly PdfInvoice[];
  /** The last invoice of the page; null when no more follow. */
  readonly lastId: string | null;
}

/**
 * Invoices of a billing run that have no PDF yet, from an invoice on: each is read once, however many
 * there are, and one that cannot be rendered is not met again.
 */
export async function loadPdfInvoicesAfter(
  scope: Scope,
  executionId: string,
  { afterId, limit }: RenderPage,
): Promise<PdfInvoicePage> {
  const { db, tenantId } = scope;
  const { rows } = await db.read.raw<{ rows: { id: string; hasPdf: boolean }[] }>(
    `select invoice.id, exists (
       select from invoice_document as document
       where document.tenant_id = invoice.tenant_id and document.invoice_id = invoice.id
         and document.content_type = 'application/pdf'
     ) as "hasPdf"
     from invoice
     where tenant_id = ? and execution_id = ? and (?::uuid is null or id > ?::uuid)
     order by id limit ?`,
    [tenantId, executionId, afterId, afterId, limit] as unknown as string[],
  );
  const invoices = await Invoice.query(db.read)
    .forTenant(tenantId)
    .whereIn(
      'id',
      rows.filter(({ hasPdf }) => !hasPdf).map(({ id }) => id),
    )
    .orderBy('id')
    .withGraphFetched('items');
  const isLast = rows.length < limit;
  return {
    invoices: await presentAll(scope, invoices),
    lastId: isLast ? null : (rows.at(-1)?.id ?? null),
  };
}

/** Invoices of a billing run that have no PDF yet, in the order of their numbers. */
export async function loadPdfInvoices(
  scope: Scope,
  executionId: string,
  limit: number,
): Promise<PdfInvoice[]> {
  const { db, tenantId } = scope;
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
  return presentAll(scope, invoices);
}

/** One invoice as its PDF shows it now. 404: there is none. */
export async function loadPdfInvoice(scope: Scope, id: string): Promise<PdfInvoice> {
  const { db, tenantId } = scope;
  const invoices = await Invoice.query(db.read)
    .forTenant(tenantId)
    .where({ id })
    .withGraphFetched('items');
  const [invoice] = await presentAll(scope, invoices);
  if (!invoice) throw missingInvoice(id);
  return invoice;
}

async function presentAll(
  { db, tenantId }: Scope,
  invoices: readonly Invoice[],
): Promise<PdfInvoice[]> {
  if (invoices.length === 0) return [];
  const accounts = await Account.query(db.read)
    .forTenant(tenantId)
    .whereIn(
      'id',
      invoices.map(({ accountId }) => accountId),
    )
    .withGraphFetched('addresses');
  const buyers = new Map(accounts.map((account) => [account.id, buyerOf(account)]));
  const seller = await sellerOf(db.read, tenantId);
  return invoices.map((invoice) =>
    pdfInvoice(invoice, seller, buyers.get(invoice.accountId) ?? nobody),
  );
}

type SellerRow = Omit<PdfParty, 'lines'>;

async function sellerOf(db: Knex, tenantId: string): Promise<PdfParty> {
  const { rows } = await db.raw<{ rows: SellerRow[] }>(
    `select coalesce(seller.name, tenant.name) as "name", street, street2, zip_code as "zipCode",
       city, country, vat_id as "vatId", registration
     from tenant left join seller on seller.tenant_id = tenant.id where tenant.id = ?`,
    [tenantId],
  );
  const seller = rows[0] ?? { ...noAddress, name: tenantId };
  const { street, street2, zipCode, city, country, vatId, registration } = seller;
  return {
    ...seller,
    lines: shown([
      ...[street, street2, joined(zipCode, city), countryName(country)],
      ...[labelled('VAT', vatId), registration],
    ]),
  };
}

const noAddress = {
  ...{ street: null, street2: null, zipCode: null, city: null, country: null, vatId: null },
  registration: null,
};
const nobody: PdfParty = { ...noAddress, name: '', lines: [] };
const countryName = (code: string | null): string | null =>
  code === null ? null : (referenceData.country(code)?.name ?? code);
const joined = (...parts: readonly (string | null | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== null).join(' ');
const labelled = (label: string, value: string | null | undefined): string =>
  value === null || value === undefined ? '' : `${label} ${value}`;
const shown = (lines: readonly (string | null | undefined)[]): string[] =>
  lines.filter((line) => line !== undefined && line !== null && line !== '') as string[];

/** Name, address and tax numbers, as a letter has them. */
function buyerOf({ name, number, gst, pan, cin, addresses = [] }: Account): PdfParty {
  const [address] = addresses;
  const place = joined(address?.zipCode, address?.city, address?.state);
  const country = referenceData.country(address?.country ?? '')?.alpha2Code ?? null;
  const taxId = address?.taxId ?? null;
  return {
    name,
    lines: shown([
      ...[address?.line1, address?.line2, place, address?.country],
      ...[labelled('Tax id', taxId), labelled('GST', gst), labelled('PAN', pan)],
      ...[labelled('CIN', cin), labelled('Account', number)],
    ]),
    ...{ street: address?.line1 ?? null, street2: address?.line2 ?? null, country },
    ...{ zipCode: address?.zipCode ?? null, city: address?.city ?? null, registration: null },
    // Tax ids of other kinds than of VAT do not begin with the country.
    vatId: country !== null && taxId?.startsWith(country) === true ? taxId : null,
  };
}

/** The taxes of an invoice by their rates. */
function taxesOf(items: readonly InvoiceItem[]): PdfTax[] {
  const byRate = new Map<string, InvoiceItem[]>();
  for (const item of items) {
    if (item.taxRate === null) continue;
    const rate = decimalText(new Decimal(item.taxRate));
    byRate.set(rate, [...(byRate.get(rate) ?? []), item]);
  }
  const rates = [...byRate].sort(([a], [b]) => new Decimal(a).comparedTo(b));
  return rates.map(([rate, taxed]) => ({
    rate,
    base: decimalText(sum(taxed.map(({ amount }) => new Decimal(amount)))),
    tax: decimalText(sum(taxed.map(({ tax }) => new Decimal(tax)))),
  }));
}

function pdfInvoice(invoice: Invoice, seller: PdfParty, buyer: PdfParty): PdfInvoice {
  const { id, invoiceNo, invoiceDate, dueDate, periodStart, periodEnd, currency } = invoice;
  const { amount, taxAmount, items = [] } = invoice;
  return {
    ...{ id, title: invoice.invoiceType, invoiceNo, invoiceDate, dueDate, periodStart, periodEnd },
    ...{ currency, minorDigits: referenceData.currency(currency)?.minorDigits ?? 2 },
    ...{ isCredit: invoice.invoiceType === 'Credit Note', isVoid: invoice.voidedAt !== null },
    ...{ seller, buyer, amount, taxAmount, taxes: taxesOf(items) },
    total: decimalText(new Decimal(amount).plus(taxAmount)),
    items: items.map(pdfItem),
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
