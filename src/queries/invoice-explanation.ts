import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../kernel/money.js';
import { inPortions, mapInPortions, Portions } from '../kernel/portions.js';
import type { Scope } from '../kernel/scope.js';
import { chargeId } from '../kernel/usage-log.js';
import { Invoice } from '../models/invoice.js';
import { RatedTransaction } from '../models/rated-transaction.js';
import { StoredRatingPlan } from '../models/rating-plan.js';
import { RecurringCharge } from '../models/recurring-charge.js';
import { UsageEvent } from '../models/usage-event.js';
import {
  compileInPieces,
  explain,
  prepareFromPlan,
  recurringEvent,
  type Explanation,
  type PlanLine,
  type RatingPlan,
} from '../rating/index.js';
import type { PageRequest } from '../schemas/paging.js';
import type * as schema from '../schemas/invoice.js';
import { missingInvoice } from './invoice.js';
import { recomputeWith } from './usage-explanation.js';
import { readMessage } from './usage-message.js';

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
  const explained = await explainAll(
    await openExplainer(db.read, tenantId, parts, shown),
    parts,
    shown,
  );
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

/** The explanations in portions, until there is no room for more in an answer. */
async function explainAll(
  explainer: Awaited<ReturnType<typeof openExplainer>>,
  parts: readonly PartRow[],
  charges: readonly RecurringCharge[],
): Promise<Map<PartRow | RecurringCharge, Explanation>> {
  const explained = new Map<PartRow | RecurringCharge, Explanation>();
  const portions = new Portions();
  for (const plan of explainer.plans.values()) await inPortions(compileInPieces(plan));
  let length = 0;
  const keep = async (of: PartRow | RecurringCharge, found: Explanation | null): Promise<void> => {
    if (portions.isOver) await portions.next();
    length += JSON.stringify(found).length;
    if (found && length <= explanationsMax) explained.set(of, found);
  };
  for (const part of parts) if (length < explanationsMax) await keep(part, explainer.usage(part));
  for (const one of charges) if (length < explanationsMax) await keep(one, explainer.charge(one));
  return explained;
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
    ...{ isProrated: charge.isProrated, amount: new Decimal(charge.amount), explanation },
  };
}

/** Computes transactions and charges again, from what was recorded when they were made. */
async function openExplainer(
  db: Knex,
  tenantId: string,
  parts: readonly PartRow[],
  charges: readonly RecurringCharge[],
) {
  const eventIds = [...new Set(parts.map(({ usageEventId }) => usageEventId))];
  const events = await UsageEvent.query(db).forTenant(tenantId).whereIn('id', eventIds);
  // Charges of one event may be on several invoices, and each tells where counters stood.
  const transactions = await RatedTransaction.query(db)
    .forTenant(tenantId)
    .whereIn(
      'id',
      eventIds.flatMap((id) => [1, 2, 3, 4].map((number) => chargeId(id, number))),
    )
    .orderBy('id')
    .withGraphFetched('dimensions');
  const planIds = [...transactions, ...charges].map(({ planId }) => planId);
  const stored = await StoredRatingPlan.query(db).forTenant(tenantId).whereIn('id', planIds);
  const plans = new Map(stored.map(({ id, plan }) => [id, plan]));
  const lines = await readLines(db, tenantId, [...transactions, ...charges]);
  const messages = new Map(
    await mapInPortions(events, ({ id, message }) => [id, readMessage(message)] as const),
  );
  const byEvent = new Map<string, RatedTransaction[]>();
  for (const transaction of transactions) {
    const known = byEvent.get(transaction.usageEventId) ?? [];
    byEvent.set(transaction.usageEventId, [...known, transaction]);
  }
  return {
    plans,
    usage({ id, usageEventId }: PartRow): Explanation | null {
      const ofEvent = byEvent.get(usageEventId) ?? [];
      const own = ofEvent.find((transaction) => transaction.id === id);
      const message = messages.get(usageEventId);
      const plan = own && plans.get(own.planId);
      if (!plan || message?.read.ok !== true) return null;
      const line = lines.get(own.contractServiceId ?? '') ?? null;
      const again = recomputeWith(plan, message.read.event, ofEvent, line);
      const found = again?.explanations.find(
        ({ usageType, billedAccountId }) =>
          usageType === own.usageType && billedAccountId === own.accountId,
      );
      return found ?? null;
    },
    charge(charge: RecurringCharge): Explanation | null {
      const plan = plans.get(charge.planId);
      return plan ? explainCharge(charge, plan, lines.get(charge.contractServiceId) ?? null) : null;
    },
  };
}

function explainCharge(
  charge: RecurringCharge,
  plan: RatingPlan,
  line: PlanLine | null,
): Explanation | null {
  const values = new Map(Object.entries(charge.dimensions));
  const event = recurringEvent(charge.serviceId, charge.billStartDate, values);
  const prepared = prepareFromPlan(plan, event, { accountId: charge.masterAccountId, line });
  if (!prepared.ok) return null;
  const explained = explain(prepared, new Map());
  if (!explained.ok) return null;
  const found = explained.explanations.find(
    ({ usageType, billedAccountId }) =>
      usageType === charge.usageType && billedAccountId === charge.accountId,
  );
  return found ?? null;
}

async function readLines(
  db: Knex,
  tenantId: string,
  charges: readonly { readonly contractServiceId: string | null }[],
): Promise<Map<string, PlanLine>> {
  const ids = charges.map(({ contractServiceId }) => contractServiceId).filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: PlanLine[] }>(
    `select line.id, coalesce(line.lineage_id, line.id) as "lineageId", contract.id as "contractId", contract.number as "contractNumber",
       line.service_instance_id as "serviceInstanceId"
     from contract_service as line join contract
       on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
     where line.tenant_id = ? and line.id = any(?::uuid[])`,
    [tenantId, [...new Set(ids)]] as unknown as string[],
  );
  return new Map(rows.map((line) => [line.id, line]));
}
