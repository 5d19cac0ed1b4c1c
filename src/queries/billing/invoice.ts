import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import { utcDate } from '../../kernel/time/date.js';
import { dueStatusOf } from '../../kernel/time/due-date.js';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { InvoiceDocument } from '../../models/billing/invoice-document.js';
import type { InvoiceItem } from '../../models/billing/invoice-item.js';
import { Invoice } from '../../models/billing/invoice.js';
import { readRecords } from '../../models/db/read-records.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { prorationFrom, type Proration } from '../../rating/index.js';
import type { Listed, StoredFile } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import * as itemSchema from '../../schemas/billing/invoice-item.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/billing/invoice.js';
import { itemsMax, pageOfItems } from './item-page.js';
import { readPaper } from './paper/invoice-paper.js';
import { listRecords } from '../lists/resource-list.js';

type InvoiceDto = Static<typeof schema.Invoice>;
type InvoiceSummaryDto = Static<typeof schema.InvoiceSummary>;
type InvoiceItemDto = Static<typeof itemSchema.InvoiceItem>;

/** Names by the id of their account, also of those that were deleted since. */
type AccountNames = ReadonlyMap<string, string>;

const accountsSql = 'select id, name from account where tenant_id = $1 and id = any($2::uuid[])';

async function findAccountNames(
  db: Knex,
  tenantId: string,
  invoices: readonly Invoice[],
): Promise<AccountNames> {
  if (invoices.length === 0) return new Map();
  const ids = [...new Set(invoices.map(({ accountId }) => accountId))];
  const accounts = await readRecords(Account, db, tenantId, accountsSql, [ids]);
  return new Map(accounts.map(({ id, name }) => [id, name]));
}

type Paid = Pick<
  Invoice,
  'amount' | 'taxAmount' | 'balance' | 'creditedAmount' | 'creditedInvoiceId' | 'voidedAt'
>;

/** Whether anybody owes an invoice: not if it is void, nor a note against one, which takes off that. */
export const isOwed = ({ voidedAt, creditedInvoiceId }: Paid): boolean =>
  voidedAt === null && creditedInvoiceId === null;

/** What payments have taken off an invoice: what is neither credited nor open (spec/beyond.md R451). */
export const paidAmountOf = (invoice: Paid): Decimal =>
  isOwed(invoice)
    ? new Decimal(invoice.amount)
        .plus(invoice.taxAmount)
        .minus(invoice.creditedAmount)
        .minus(invoice.balance)
    : ZERO;

const presentInvoice = presenterOf(schema.InvoiceSummary, [
  'accountName',
  'total',
  'dueStatus',
  'paidAmount',
]);

const presentSummary = (
  invoice: Invoice,
  names: AccountNames,
  today: string,
): InvoiceSummaryDto => ({
  ...presentInvoice(invoice),
  accountName: names.get(invoice.accountId) ?? null,
  total: new Decimal(invoice.amount).plus(invoice.taxAmount),
  dueStatus: dueStatusOf(invoice, today),
  paidAmount: paidAmountOf(invoice),
});

/** The days of an item, where only a part of its period is charged. */
export const itemProration = ({ chargedDays, periodDays }: InvoiceItem): Proration | null =>
  chargedDays === null || periodDays === null ? null : prorationFrom(chargedDays, periodDays);

/** A tier as the API shows it, in the words of rate cards. */
export function presentTier(tier: ChargedTier): InvoiceItemDto['tiers'][number] {
  return {
    tierNum: tier.tierNum,
    tierMinVal: new Decimal(tier.from),
    tierMaxVal: tier.to === null ? null : new Decimal(tier.to),
    volume: new Decimal(tier.volume),
    ratePerUnit: new Decimal(tier.unitRate),
    flatRate: tier.isFlat,
    amount: new Decimal(tier.amount),
  };
}

const presentCharge = presenterOf(itemSchema.InvoiceItem, ['currency', 'proration', 'tiers']);

const presentItem = (item: InvoiceItem, currency: string): InvoiceItemDto => ({
  ...presentCharge(item),
  currency,
  proration: itemProration(item),
  tiers: (item.tiers ?? []).map(presentTier),
});

export const missingInvoice = (id: string) => problem.notFound(`There is no invoice '${id}'.`);

const invoiceList = {
  model: Invoice,
  // Within a day by number, of which longer ones come after.
  orderBy: 'invoice_date desc, length(invoice_no) desc, invoice_no desc',
  searched: ['invoice_no'],
  filters: {
    accountId: 'account_id =',
    fromDate: 'invoice_date >=',
    toDate: 'invoice_date <=',
    periodFromDate: 'period_end >=',
    periodToDate: 'period_start <=',
    billingRunId: 'execution_id =',
    dueBefore: 'due_date <',
  },
};

/** What invoices of a status have in common (docs/decisions/0468). */
const statusSql: Readonly<Record<schema.InvoiceListStatus, string>> = {
  open: 'balance <> 0',
  overdue: 'balance > 0',
  paid: `payment_status = 'Paid' and credited_invoice_id is null`,
  void: `invoice_status = 'Void'`,
};

export interface InvoiceFilter {
  /** Part of the number. */
  readonly q?: string;
  readonly accountId?: string;
  /** Both dates are part of the range. */
  readonly fromDate?: string;
  readonly toDate?: string;
  /** Days of which any is billed; both are part of the range. */
  readonly periodFromDate?: string;
  readonly periodToDate?: string;
  readonly billingRunId?: string;
  readonly status?: schema.InvoiceListStatus;
}

/** 400: the first day is after the last. */
function requireOrder(given: InvoiceFilter, first: keyof InvoiceFilter, last: keyof InvoiceFilter) {
  const [from, to] = [given[first], given[last]];
  if (from === undefined || to === undefined || from <= to) return;
  const order = `'${first}' must not be after '${last}': '${from}' is after '${to}'`;
  throw problem.validation(order, { field: first, value: from });
}

/** One page of invoices, the latest date first. 400: a range ends before it begins. */
export async function listInvoices(
  scope: Scope,
  page: PageRequest,
  { q, status, ...given }: InvoiceFilter,
): Promise<Listed<InvoiceSummaryDto>> {
  requireOrder(given, 'fromDate', 'toDate');
  requireOrder(given, 'periodFromDate', 'periodToDate');
  // As `dueStatusOf` has it.
  const filter = status === 'overdue' ? { ...given, dueBefore: utcDate(scope.now()) } : given;
  const only = status && statusSql[status];
  // The invoices of a period stand together, behind all later ones.
  const isScattered = given.periodFromDate !== undefined || given.periodToDate !== undefined;
  const found = await listRecords(invoiceList, scope, { page, q, filter, only, isScattered });
  return presentPage(scope, found);
}

async function presentPage(
  { db, tenantId, now }: Scope,
  { items, total }: Listed<Invoice>,
): Promise<Listed<InvoiceSummaryDto>> {
  const names = await findAccountNames(db.read, tenantId, items);
  const today = utcDate(now());
  return { items: items.map((invoice) => presentSummary(invoice, names, today)), total };
}

/** A note charges the account of its invoice, whose invoices an index finds. */
const noteList = {
  ...invoiceList,
  filters: { accountId: 'account_id =', creditedInvoiceId: 'credited_invoice_id =' },
};

/** The credit notes against an invoice (spec/beyond.md R230). 404: there is no such invoice. */
export async function listCreditNotes(
  scope: Scope,
  invoiceId: string,
  page: PageRequest,
): Promise<Listed<InvoiceSummaryDto>> {
  const { db, tenantId } = scope;
  const invoice = await Invoice.query(db.read).forTenant(tenantId).findById(invoiceId);
  if (!invoice) throw missingInvoice(invoiceId);
  const filter = { accountId: invoice.accountId, creditedInvoiceId: invoiceId };
  return presentPage(scope, await listRecords(noteList, scope, { page, q: undefined, filter }));
}

const pdfType = 'application/pdf';

const pdfNamesSql = `
  select invoice_id, file_name from invoice_document
  where tenant_id = $1 and content_type = '${pdfType}' and invoice_id = any($2::uuid[])`;

/** What of invoices is read. */
interface InvoiceView {
  /** How many of the items to skip. */
  readonly itemOffset?: number;
  /** Whether with what their PDFs say beside the items. */
  readonly paper?: boolean;
}

/** Invoices of these ids with their items from a place on, in the order of their numbers. */
export async function readInvoices(
  { db, tenantId, now }: Scope,
  ids: readonly string[],
  { itemOffset = 0, paper = false }: InvoiceView = {},
): Promise<InvoiceDto[]> {
  if (ids.length === 0) return [];
  const invoices = await Invoice.query(db.read)
    .forTenant(tenantId)
    .whereIn('id', [...ids])
    .orderBy('invoiceNo');
  await Invoice.loadItems(db.read, tenantId, invoices, { from: itemOffset, count: itemsMax });
  const counts = await countItems(db.read, tenantId, ids);
  const names = await findAccountNames(db.read, tenantId, invoices);
  const pdfs = await readRecords(InvoiceDocument, db.read, tenantId, pdfNamesSql, [ids]);
  const fileNames = new Map(pdfs.map(({ invoiceId, fileName }) => [invoiceId, fileName]));
  const today = utcDate(now());
  const presented: InvoiceDto[] = [];
  for (const invoice of invoices) {
    const { id, items = [], currency } = invoice;
    const { page, next } = await pageOfItems(items, itemOffset, counts.get(id) ?? 0);
    presented.push({
      ...presentSummary(invoice, names, today),
      voidReason: invoice.voidReason,
      executionId: invoice.executionId,
      creditReason: invoice.creditReason,
      invoiceFileName: fileNames.get(id) ?? null,
      nextItemOffset: next,
      items: await mapInPortions(page, (item) => presentItem(item, currency)),
      ...(paper ? { paper: await readPaper(db.read, tenantId, invoice) } : {}),
    });
  }
  return presented;
}

/** How many items each of the invoices has. */
export async function countItems(
  db: Knex,
  tenantId: string,
  invoiceIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sqlRows<{ id: string; count: number }>(
    db,
    `select invoice_id as "id", count(*)::integer as "count" from invoice_item
     where tenant_id = ? and invoice_id = any(?::uuid[]) group by 1`,
    [tenantId, [...invoiceIds]],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/**
 * An invoice with its items from a place on, in their order (spec/resources.md R83), as many as an
 * answer may have (docs/decisions/0313). 404: there is none.
 */
export async function getInvoice(
  scope: Scope,
  id: string,
  view?: InvoiceView,
): Promise<InvoiceDto> {
  const [invoice] = await readInvoices(scope, [id], view);
  if (!invoice) throw missingInvoice(id);
  return invoice;
}

/**
 * The stored PDF of an invoice as it is now; null: it was voided, and nothing stored shows that, or it
 * is a credit note against an invoice that nobody has asked for. 404:
 * there is no such invoice, or no PDF of it yet.
 */
export async function findInvoicePdf(scope: Scope, id: string): Promise<StoredFile | null> {
  const { tenantId, db } = scope;
  const document = await InvoiceDocument.query(db.read)
    .forTenant(tenantId)
    .findOne({ invoiceId: id, contentType: pdfType })
    .whereRaw(
      `is_void = (
         select voided_at is not null from invoice
         where invoice.tenant_id = invoice_document.tenant_id
           and invoice.id = invoice_document.invoice_id
       )`,
    );
  if (document) return { fileName: document.fileName, bytes: document.bytes };
  const invoice = await Invoice.query(db.read)
    .forTenant(tenantId)
    .findById(id)
    .select('invoiceNo', 'voidedAt', 'creditedInvoiceId');
  if (!invoice) throw missingInvoice(id);
  if (invoice.voidedAt !== null || invoice.creditedInvoiceId !== null) return null;
  throw problem.notFound(`There is no PDF of the invoice '${invoice.invoiceNo}' yet.`);
}
