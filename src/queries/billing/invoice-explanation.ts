import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { groupBy } from '../../kernel/group-by.js';
import { oncePeriod } from '../../kernel/time/billing-calendar.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { AdjustmentCharge } from '../../models/billing/adjustments/adjustment-charge.js';
import { InvoiceItem } from '../../models/billing/invoice-item.js';
import { Invoice } from '../../models/billing/invoice.js';
import { RecurringCharge } from '../../models/billing/recurring-charge.js';
import { prorationOf, type Explanation } from '../../rating/index.js';
import type { ArchiveFiles } from '../../messages/ageing/usage-archive.js';
import { answerAboutInvoice } from '../usage/archive/answer-from-archive.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/billing/invoice-explanation.js';
import { compareCredits, creditsType } from '../balances/charge-credits.js';
import { explainAdjustment } from './adjustments/explained-adjustment.js';
import { compareDiscounts, discountType } from './adjustments/charge-discounts.js';
import { compareCredited, creditedType } from './charge-differences.js';
import { explainParts } from './charge-explainer.js';
import { takeUntilHeavy } from './item-page.js';
import { invoicePartsSql } from './invoice-parts.js';
import { summarizeInvoice } from './invoice-summary.js';
import { missingInvoice } from './invoice.js';
import { sqlRows } from '../../models/db/sql-rows.js';

type InvoiceExplanationDto = Static<typeof schema.InvoiceExplanation>;
type ExplainedItemDto = InvoiceExplanationDto['items'][number];

interface SumRow {
  readonly itemId: string;
  readonly parts: number;
  readonly amount: string;
}

interface PartRow {
  readonly itemId: string;
  readonly id: string;
  readonly usageEventId: string;
  readonly externalTranId: string;
  readonly transactionDate: string;
  readonly volume: string;
  readonly amount: string;
  readonly reverses: string | null;
  readonly correction: ExplainedItemDto['transactions'][number]['correction'];
}

/**
 * Limits of one answer for an invoice with thousands of items or lines: transactions and charges
 * shown, and characters of their explanations.
 */
const shownMax = 10_000;
const explanationsMax = 8 * 1024 * 1024;
/** Items of one answer, and their bytes beside explanations (docs/decisions/0313). */
const itemsMax = 5_000;
const itemBytesMax = 7 * 1024 * 1024;

/** The requested part of an explanation. */
interface Detail extends PageRequest {
  /** Only this item. */
  readonly itemId?: string;
  /** How many items to skip. */
  readonly itemOffset: number;
  /** Whether the detail of items is left out. */
  readonly summaryOnly: boolean;
}

/**
 * Explains an invoice: a summary, and unless `summaryOnly` is set, a page of the transactions of
 * each item. 404: there is none. 400: it has no such item. 409: too much of its usage is in the archive.
 */
export function explainInvoice(
  scope: Scope,
  archive: ArchiveFiles | undefined,
  id: string,
  detail: Detail,
): Promise<InvoiceExplanationDto> {
  return answerAboutInvoice(scope, archive, id, (inside) => explain(inside, id, detail));
}

async function explain(
  { tenantId, db }: Scope,
  id: string,
  { itemId, itemOffset, summaryOnly, ...page }: Detail,
): Promise<InvoiceExplanationDto> {
  const invoice = await Invoice.query(db.read).forTenant(tenantId).findById(id);
  if (!invoice) throw missingInvoice(id);
  await Invoice.loadItems(db.read, tenantId, [invoice]);
  const items = (invoice.items ?? []).filter((item) => itemId === undefined || item.id === itemId);
  if (itemId !== undefined && items.length === 0) {
    throw problem.validation(`'itemId' names no item of this invoice: '${itemId}'`, {
      field: 'itemId',
      value: itemId,
    });
  }
  const rest = summaryOnly ? [] : items.slice(itemOffset);
  // One after the other they would take twice as long.
  const [explained, summary] = await Promise.all([
    explainItems(db.read, tenantId, invoice, rest.slice(0, itemsMax), page),
    summarizeInvoice(db.read, tenantId, invoice),
  ]);
  const shown = await takeUntilHeavy(explained, weightOf, itemBytesMax);
  return {
    invoiceId: id,
    invoiceNo: invoice.invoiceNo,
    invoiceStatus: invoice.invoiceStatus,
    creditedInvoiceId: invoice.creditedInvoiceId,
    creditReason: invoice.creditReason,
    currency: invoice.currency,
    amount: new Decimal(invoice.amount),
    taxAmount: new Decimal(invoice.taxAmount),
    summary,
    items: [...shown],
    nextItemOffset: shown.length < rest.length ? itemOffset + shown.length : null,
  };
}

/**
 * Estimated bytes of an item without its explanations, by its texts and the number of its parts.
 */
function weightOf({ description, transactions, charges }: ExplainedItemDto): number {
  const texts = [description, transactions.map(({ externalTranId }) => externalTranId)];
  const rows = transactions.length + charges.length;
  return Buffer.byteLength(JSON.stringify(texts)) + 600 + 450 * rows;
}

async function explainItems(
  db: Knex,
  tenantId: string,
  { id, isReversed }: Invoice,
  items: readonly InvoiceItem[],
  page: PageRequest,
): Promise<ExplainedItemDto[]> {
  if (items.length === 0) return [];
  const itemIds = items.map((item) => item.id);
  const sums = await readSums(db, tenantId, id, itemIds);
  const parts = await readParts(db, tenantId, id, itemIds, page);
  const credited = await findCredited(db, tenantId, items);
  const reductions = new Map([
    [creditsType, await compareCredits(db, tenantId, id, items)],
    [discountType, await compareDiscounts(db, tenantId, id, items)],
    [creditedType, await compareCredited(db, tenantId, id, items)],
  ]);
  const charges = await RecurringCharge.query(db)
    .forTenant(tenantId)
    .where({ invoiceId: id })
    .whereIn('invoiceItemId', itemIds)
    .orderBy('id');
  const adjusted = groupBy(
    await AdjustmentCharge.query(db)
      .forTenant(tenantId)
      .where({ invoiceId: id })
      .whereIn('invoiceItemId', itemIds)
      .orderBy('id'),
    ({ invoiceItemId }) => invoiceItemId,
  );
  const sumsOfCharges = groupBy(charges, ({ invoiceItemId }) => invoiceItemId);
  const shown = charges.slice(0, shownMax);
  const explained = await explainParts(db, tenantId, { parts, charges: shown }, explanationsMax);
  const partsByItem = groupBy(parts, (part) => part.itemId);
  const shownByItem = groupBy(shown, ({ invoiceItemId }) => invoiceItemId);
  return mapInPortions(items, (item): ExplainedItemDto => {
    const own = sumsOfCharges.get(item.id) ?? [];
    const usage = sums.get(item.id);
    const adjustments = adjusted.get(item.id) ?? [];
    const amounts = [...own.map(priceOf), ...adjustments.map((one) => new Decimal(one.amount))];
    const sumOfParts = amounts.reduce((sum, amount) => sum.plus(amount), amountOf(usage?.amount));
    const exactAmount = item.exactAmount === null ? null : new Decimal(item.exactAmount);
    const isReducing = reductions.has(item.chargeType) && item.creditedItemId === null;
    return {
      id: item.id,
      description: item.description,
      chargeType: item.chargeType,
      parts: own.length + adjustments.length + (usage?.parts ?? 0),
      sumOfParts: isReducing && exactAmount ? exactAmount : sumOfParts,
      exactAmount,
      amount: new Decimal(item.amount),
      creditedItemId: item.creditedItemId,
      taxCode: item.taxCode,
      tax: new Decimal(item.tax),
      taxRate: item.taxRate === null ? null : new Decimal(item.taxRate),
      matches: isReducing
        ? reductions.get(item.chargeType) === true
        : item.creditedItemId === null
          ? (exactAmount?.eq(isReversed ? sumOfParts.negated() : sumOfParts) ?? false)
          : isWithin(credited.get(item.creditedItemId)),
      transactions: (partsByItem.get(item.id) ?? []).map((part) =>
        presentPart(part, explained.get(part) ?? null),
      ),
      charges: (shownByItem.get(item.id) ?? []).map((charge) =>
        presentCharge(charge, explained.get(charge) ?? null),
      ),
      adjustments: adjustments.map(explainAdjustment),
    };
  });
}

/** The items that these credit, by their ids. */
async function findCredited(
  db: Knex,
  tenantId: string,
  items: readonly InvoiceItem[],
): Promise<ReadonlyMap<string, InvoiceItem>> {
  const ids = items.flatMap(({ creditedItemId }) => creditedItemId ?? []);
  if (ids.length === 0) return new Map();
  const credited = await InvoiceItem.query(db)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [ids]);
  return new Map(credited.map((item) => [item.id, item]));
}

/** Whether notes have credited no more of an item than it charges, without tax and of the tax. */
function isWithin(item: InvoiceItem | undefined): boolean {
  if (!item) return false;
  const { amount, tax, creditedAmount, creditedTax } = item;
  return (
    new Decimal(creditedAmount).abs().lessThanOrEqualTo(new Decimal(amount).abs()) &&
    new Decimal(creditedTax).abs().lessThanOrEqualTo(new Decimal(tax).abs())
  );
}

/** What a charge costs before discounts, which are an item of their own. */
const priceOf = ({ amount, discount }: RecurringCharge): Decimal =>
  new Decimal(amount).plus(discount);

const amountOf = (text: string | null | undefined): Decimal => new Decimal(text ?? 0);

async function readSums(
  db: Knex,
  tenantId: string,
  id: string,
  itemIds: readonly string[],
): Promise<Map<string, SumRow>> {
  const rows = await sqlRows<SumRow>(
    db,
    `select usage.invoice_item_id as "itemId", count(*)::integer as "parts",
       sum(coalesce(d.calc_amount, t.amount + t.discount)) as "amount"
     ${invoicePartsSql} and usage.invoice_item_id = any(?::uuid[]) group by 1`,
    [tenantId, id, [...itemIds]],
  );
  return new Map(rows.map((row) => [row.itemId, row]));
}

async function readParts(
  db: Knex,
  tenantId: string,
  id: string,
  itemIds: readonly string[],
  { limit, offset }: PageRequest,
): Promise<PartRow[]> {
  const rows = await sqlRows<PartRow>(
    db,
    `select usage.invoice_item_id as "itemId", t.id, t.usage_event_id as "usageEventId",
       t.external_tran_id as "externalTranId", t.transaction_date as "transactionDate",
       coalesce(d.volume, t.quantity) as "volume", coalesce(d.calc_amount, t.amount + t.discount) as "amount",
       t.reverses, (
         select json_build_object('id', made.id, 'kind', made.kind, 'reason', made.reason)
         from usage_correction as made where made.tenant_id = t.tenant_id and made.id = t.correction_id
       ) as "correction"
     ${invoicePartsSql} and usage.invoice_item_id = any(?::uuid[])
       and usage.first_position < ?::bigint
       and usage.first_position + cardinality(usage.transaction_ids) > ?::bigint
       and usage.first_position + known.number > ?::bigint
       and usage.first_position + known.number <= ?::bigint
     order by usage.invoice_item_id, usage.first_position, known.number limit ${shownMax}`,
    [tenantId, id, [...itemIds], offset + limit, offset, offset, offset + limit],
  );
  return rows;
}

function presentPart(part: PartRow, explanation: Explanation | null) {
  const { id, usageEventId, externalTranId, transactionDate, reverses, correction } = part;
  return {
    id,
    usageEventId,
    externalTranId,
    transactionDate,
    reverses,
    correction,
    volume: new Decimal(part.volume),
    amount: new Decimal(part.amount),
    explanation,
  };
}

function presentCharge(charge: RecurringCharge, explanation: Explanation | null) {
  const { id, contractServiceId, billStartDate, billEndDate } = charge;
  // One-time charges have no period; the one stored with them precedes all others.
  const isOnce = charge.periodEnd === oncePeriod.last;
  return {
    id,
    contractServiceId,
    billStartDate,
    billEndDate,
    periodStart: isOnce ? billStartDate : charge.periodStart,
    periodEnd: isOnce ? billEndDate : charge.periodEnd,
    isProrated: charge.isProrated,
    proration: prorationOf(charge),
    amount: priceOf(charge),
    explanation,
  };
}
