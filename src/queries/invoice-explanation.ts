import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../kernel/money.js';
import type { Scope } from '../kernel/scope.js';
import { Invoice } from '../models/invoice.js';
import { RecurringCharge } from '../models/recurring-charge.js';
import { prorationOf, type Explanation } from '../rating/index.js';
import type { PageRequest } from '../schemas/paging.js';
import type * as schema from '../schemas/invoice.js';
import { explainParts } from './charge-explainer.js';
import { missingInvoice } from './invoice.js';

type InvoiceExplanationDto = Static<typeof schema.InvoiceExplanation>;
type ExplainedItemDto = InvoiceExplanationDto['items'][number];

/** What of which transaction is part of an item: the whole, or the dimension of one row. */
const partsSql = `
  from invoice_usage as usage
  cross join unnest(usage.transaction_ids) with ordinality as known (id, number)
  join rated_transaction as t on t.tenant_id = usage.tenant_id and t.id = known.id
  left join rated_dimension as d on d.tenant_id = usage.tenant_id and d.transaction_id = known.id
    and d.rate_card_row_id = usage.rate_card_row_id
  where usage.tenant_id = ? and usage.invoice_id = ?`;

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
}

/**
 * What an invoice with thousands of items or lines may make of one answer: transactions and charges
 * that are shown, and characters of their explanations.
 */
const shownMax = 10_000;
const explanationsMax = 8 * 1024 * 1024;

/** How an invoice came about, with a page of the transactions of each item. 404: there is none. */
export async function explainInvoice(
  scope: Scope,
  id: string,
  page: PageRequest,
): Promise<InvoiceExplanationDto> {
  const { tenantId, db } = scope;
  const invoice = await Invoice.query(db.read)
    .forTenant(tenantId)
    .findById(id)
    .withGraphFetched('items');
  if (!invoice) throw missingInvoice(id);
  const sums = await readSums(db.read, tenantId, id);
  const parts = await readParts(db.read, tenantId, id, page);
  const charges = await RecurringCharge.query(db.read)
    .forTenant(tenantId)
    .where({ invoiceId: id })
    .orderBy('id');
  const sumsOfCharges = groupBy(charges, ({ invoiceItemId }) => invoiceItemId);
  const shown = charges.slice(0, shownMax);
  const given = { parts, charges: shown };
  const explained = await explainParts(db.read, tenantId, given, explanationsMax);
  const partsByItem = groupBy(parts, ({ itemId }) => itemId);
  const shownByItem = groupBy(shown, ({ invoiceItemId }) => invoiceItemId);
  const items = (invoice.items ?? []).map((item): ExplainedItemDto => {
    const own = sumsOfCharges.get(item.id) ?? [];
    const usage = sums.get(item.id);
    const sumOfParts = own.reduce((sum, { amount }) => sum.plus(amount), amountOf(usage?.amount));
    const exactAmount = item.exactAmount === null ? null : new Decimal(item.exactAmount);
    return {
      ...{ id: item.id, description: item.description, chargeType: item.chargeType },
      ...{ parts: own.length + (usage?.parts ?? 0), sumOfParts, exactAmount },
      ...{ amount: new Decimal(item.amount), taxCode: item.taxCode, tax: new Decimal(item.tax) },
      taxRate: item.taxRate === null ? null : new Decimal(item.taxRate),
      matches: exactAmount?.eq(sumOfParts) ?? false,
      transactions: (partsByItem.get(item.id) ?? []).map((part) =>
        presentPart(part, explained.get(part) ?? null),
      ),
      charges: (shownByItem.get(item.id) ?? []).map((charge) =>
        presentCharge(charge, explained.get(charge) ?? null),
      ),
    };
  });
  return {
    ...{ invoiceId: id, invoiceNo: invoice.invoiceNo, invoiceStatus: invoice.invoiceStatus },
    ...{ currency: invoice.currency, amount: new Decimal(invoice.amount) },
    ...{ taxAmount: new Decimal(invoice.taxAmount), items },
  };
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}

const amountOf = (text: string | null | undefined): Decimal => new Decimal(text ?? 0);

async function readSums(db: Knex, tenantId: string, id: string): Promise<Map<string, SumRow>> {
  const { rows } = await db.raw<{ rows: SumRow[] }>(
    `select usage.invoice_item_id as "itemId", count(*)::integer as "parts",
       sum(coalesce(d.calc_amount, t.amount)) as "amount"
     ${partsSql} group by 1`,
    [tenantId, id],
  );
  return new Map(rows.map((row) => [row.itemId, row]));
}

async function readParts(
  db: Knex,
  tenantId: string,
  id: string,
  { limit, offset }: PageRequest,
): Promise<PartRow[]> {
  const { rows } = await db.raw<{ rows: PartRow[] }>(
    `select usage.invoice_item_id as "itemId", t.id, t.usage_event_id as "usageEventId",
       t.external_tran_id as "externalTranId", t.transaction_date as "transactionDate",
       coalesce(d.volume, t.quantity) as "volume", coalesce(d.calc_amount, t.amount) as "amount"
     ${partsSql} and usage.first_position < ?::bigint
       and usage.first_position + cardinality(usage.transaction_ids) > ?::bigint
       and usage.first_position + known.number > ?::bigint
       and usage.first_position + known.number <= ?::bigint
     order by usage.invoice_item_id, usage.first_position, known.number limit ${shownMax}`,
    [tenantId, id, offset + limit, offset, offset, offset + limit],
  );
  return rows;
}

function presentPart(part: PartRow, explanation: Explanation | null) {
  const { id, usageEventId, externalTranId, transactionDate } = part;
  return {
    ...{ id, usageEventId, externalTranId, transactionDate },
    ...{ volume: new Decimal(part.volume), amount: new Decimal(part.amount), explanation },
  };
}

function presentCharge(charge: RecurringCharge, explanation: Explanation | null) {
  const { id, contractServiceId, periodStart, periodEnd, billStartDate, billEndDate } = charge;
  return {
    ...{ id, contractServiceId, periodStart, periodEnd, billStartDate, billEndDate },
    ...{ isProrated: charge.isProrated, proration: prorationOf(charge) },
    ...{ amount: new Decimal(charge.amount), explanation },
  };
}
