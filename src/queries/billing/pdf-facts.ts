import type { Knex } from 'knex';
import type { PdfStep, PdfUsage } from '../../messages/pdf-invoice.js';
import type { InvoiceItem } from '../../models/billing/invoice-item.js';
import type { Invoice } from '../../models/billing/invoice.js';
import { RecurringCharge } from '../../models/billing/recurring-charge.js';
import { pricedRowsSql } from '../../models/usage/priced-row.js';
import type { Explanation } from '../../rating/index.js';
import { explainParts, type UsagePart } from './charge-explainer.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The contract of an item or an invoice. */
export interface PdfContract {
  readonly number: string;
  readonly poNumber: string | null;
}

/** The computation of an item: its steps, and the number of events or charges. */
export interface PdfComputation {
  readonly steps: readonly PdfStep[];
  readonly count: number;
}

/** Data that PDFs show beside the rows of invoices, by id. */
export interface PdfFacts {
  readonly contractsByLine: ReadonlyMap<string, PdfContract>;
  readonly contracts: ReadonlyMap<string, PdfContract>;
  /** Numbers of the invoices that credit notes are against. */
  readonly creditedNumbers: ReadonlyMap<string, string>;
  readonly serviceLabels: ReadonlyMap<string, string>;
  readonly computations: ReadonlyMap<string, PdfComputation>;
  readonly usage: ReadonlyMap<string, readonly PdfUsage[]>;
}

const idsOf = (values: readonly (string | null)[]): string[] => [
  ...new Set(values.filter((value) => value !== null)),
];

/** Loads it for a page of invoices, with one statement for each kind. */
export async function loadPdfFacts(
  db: Knex,
  tenantId: string,
  invoices: readonly Invoice[],
  withUsage: boolean,
): Promise<PdfFacts> {
  const items = invoices.flatMap(({ items: own = [] }) => own);
  return {
    contractsByLine: await loadContractsOfLines(
      db,
      tenantId,
      idsOf(items.map(({ contractServiceId }) => contractServiceId)),
    ),
    contracts: await loadContracts(
      db,
      tenantId,
      idsOf(invoices.map(({ contractId }) => contractId)),
    ),
    creditedNumbers: await loadNumbers(
      db,
      tenantId,
      idsOf(invoices.map(({ creditedInvoiceId }) => creditedInvoiceId)),
    ),
    serviceLabels: await loadServiceLabels(
      db,
      tenantId,
      idsOf(items.map(({ serviceId }) => serviceId)),
    ),
    computations: await loadComputations(
      db,
      tenantId,
      items.filter(({ priceMethodType, serviceId }) => priceMethodType === null && serviceId),
      reversedIn(invoices),
    ),
    usage: withUsage ? await loadUsage(db, tenantId, items) : new Map(),
  };
}

const byId = <T extends { readonly id: string }>(rows: readonly T[]): Map<string, T> =>
  new Map(rows.map((row) => [row.id, row]));

async function loadContracts(db: Knex, tenantId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, PdfContract>();
  const rows = await sqlRows<PdfContract & { id: string }>(
    db,
    `select id, number, po_number as "poNumber" from contract
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, [...ids]],
  );
  return byId(rows);
}

async function loadContractsOfLines(db: Knex, tenantId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, PdfContract>();
  const rows = await sqlRows<PdfContract & { id: string }>(
    db,
    `select line.id, contract.number, contract.po_number as "poNumber"
     from contract_service as line join contract
       on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
     where line.tenant_id = ? and line.id = any(?::uuid[])`,
    [tenantId, [...ids]],
  );
  return byId(rows);
}

async function loadNumbers(db: Knex, tenantId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>();
  const rows = await sqlRows<{ id: string; number: string }>(
    db,
    `select id, invoice_no as number from invoice where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, [...ids]],
  );
  return new Map(rows.map(({ id, number }) => [id, number]));
}

async function loadServiceLabels(db: Knex, tenantId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>();
  const rows = await sqlRows<{ id: string; label: string }>(
    db,
    `select id, label from service
     where tenant_id = ? and id = any(?::uuid[]) and label is not null`,
    [tenantId, [...ids]],
  );
  return new Map(rows.map(({ id, label }) => [id, label]));
}

/** Steps that one item shows. */
const stepsMax = 20;
/** Characters of the explanations behind them, for all items of a page. */
const explanationsMax = 1024 * 1024;

interface ComputedUsage extends UsagePart {
  readonly itemId: string;
  readonly count: number;
}

/**
 * The formula steps of items made by pricing logic: the first event of usage represents all,
 * without its values.
 */
async function loadComputations(
  db: Knex,
  tenantId: string,
  items: readonly InvoiceItem[],
  reversed: ReadonlySet<string>,
): Promise<Map<string, PdfComputation>> {
  if (items.length === 0) return new Map();
  const ids = items.map(({ id }) => id);
  const parts = await sqlRows<ComputedUsage>(
    db,
    `select usage.item_id as "itemId", usage.count::integer as "count", t.id,
       t.usage_event_id as "usageEventId"
     from (
       select invoice_item_id as item_id, sum(cardinality(transaction_ids)) as count,
         (array_agg(transaction_ids[1] order by first_position))[1] as transaction_id
       from invoice_usage
       where tenant_id = :tenantId and invoice_id = any(:invoiceIds::uuid[])
         and invoice_item_id = any(:ids::uuid[])
       group by 1
     ) as usage join rated_transaction as t
       on t.tenant_id = :tenantId and t.id = usage.transaction_id`,
    { tenantId, ids, invoiceIds: idsOf(items.map(({ invoiceId }) => invoiceId)) },
  );
  const charges = await RecurringCharge.query(db)
    .forTenant(tenantId)
    .whereIn('invoiceId', idsOf(items.map(({ invoiceId }) => invoiceId)))
    .whereIn('invoiceItemId', ids);
  const explained = await explainParts(db, tenantId, { parts, charges }, explanationsMax);
  const found = new Map<string, PdfComputation>();
  for (const part of parts) {
    const { itemId, count } = part;
    found.set(itemId, { count, steps: stepsOf(explained.get(part), count === 1) });
  }
  for (const charge of charges) {
    found.set(charge.invoiceItemId, { count: 1, steps: stepsOf(explained.get(charge), true) });
  }
  for (const [itemId, { count, steps }] of found) {
    const isTurned = reversed.has(itemId) && steps.length > 0;
    if (isTurned) found.set(itemId, { count, steps: [...steps, turnedRound] });
  }
  return found;
}

/**
 * Steps have the sign at rating, and a reversed invoice has the opposite one (docs/decisions/0271).
 */
const turnedRound: PdfStep = {
  label: 'On this document',
  name: 'document',
  formula: '',
  value: 'with the opposite sign',
};

/** The items of invoices whose sign is opposite to that of their charges. */
const reversedIn = (invoices: readonly Invoice[]): ReadonlySet<string> =>
  new Set(
    invoices.flatMap(({ isReversed, items = [] }) => (isReversed ? items.map(({ id }) => id) : [])),
  );

/** Proration by days is no step here: the item shows it itself. */
const stepsOf = (explanation: Explanation | undefined, withValues: boolean): PdfStep[] =>
  (explanation?.steps ?? [])
    .filter(({ logic, name }) => logic !== 'Proration' || name !== 'proration')
    .slice(0, stepsMax)
    .map(({ label, name, formula, value }) => ({
      label,
      name,
      formula,
      value: withValues ? value : null,
    }));

/** Maximum usage rows in the PDF of one invoice; the API has all of them. */
export const usageRowsMax = 5_000;

/** The usage of each day and item. */
async function loadUsage(
  db: Knex,
  tenantId: string,
  items: readonly InvoiceItem[],
): Promise<Map<string, PdfUsage[]>> {
  const rows = await sqlRows<Omit<PdfUsage, 'description'> & UsageRow>(
    db,
    `select * from (
       select usage.invoice_id as "invoiceId", t.transaction_date as "date", item.position,
         coalesce(item.description, item.service_name, '') as "description", item.unit,
         trim_scale(sum(coalesce(d.volume, t.quantity)))::text as "volume",
         trim_scale(sum(coalesce(d.calc_amount, t.amount)
           * case when invoice.is_reversed then -1 else 1 end))::text as "amount",
         row_number() over (partition by usage.invoice_id order by t.transaction_date, item.position)
           as number
       from invoice_usage as usage
       cross join unnest(usage.transaction_ids) as known (id)
       join rated_transaction as t on t.tenant_id = usage.tenant_id and t.id = known.id
       join invoice on invoice.tenant_id = usage.tenant_id and invoice.id = usage.invoice_id
       join invoice_item as item on item.tenant_id = usage.tenant_id
         and item.id = usage.invoice_item_id
       ${pricedRowsSql('left join', 'own.rate_card_row_id = usage.rate_card_row_id')}
       where usage.tenant_id = ? and usage.invoice_id = any(?::uuid[])
       group by 1, 2, 3, 4, 5
     ) as day where number <= ${usageRowsMax} order by number`,
    [tenantId, idsOf(items.map(({ invoiceId }) => invoiceId))],
  );
  const found = new Map<string, PdfUsage[]>();
  for (const { invoiceId, date, description, unit, volume, amount } of rows) {
    const known = found.get(invoiceId) ?? [];
    known.push({ date, description, unit, volume, amount });
    found.set(invoiceId, known);
  }
  return found;
}

interface UsageRow {
  readonly invoiceId: string;
  readonly description: string;
}
