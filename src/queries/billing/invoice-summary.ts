import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { eachInPortions, mapInPortions } from '../../kernel/portions.js';
import type { InvoiceItem } from '../../models/billing/invoice-item.js';
import { Invoice } from '../../models/billing/invoice.js';
import type * as schema from '../../schemas/billing/invoice-explanation.js';
import { itemProration, presentTier } from './invoice.js';
import { invoicePartsSql } from './invoice-parts.js';
import { sqlRows } from '../../models/db/sql-rows.js';

type SummaryDto = Static<typeof schema.InvoiceExplanation>['summary'];
type SummarizedItemDto = SummaryDto['items'][number];
type SummarizedRowDto = SummarizedItemDto['rows'][number];
type PreviousDto = NonNullable<SummaryDto['previous']>;
type ChangeDto = PreviousDto['changes'][number];

const itemsMax = 20;
const rowsMax = 10;
const changesMax = 20;
const eventsMax = 5;

/**
 * Summarizes why an invoice is as high as it is: its largest items with rows and tiers, the most
 * expensive events, and the differences from the account's previous invoice (docs/decisions/0251).
 */
export async function summarizeInvoice(
  db: Knex,
  tenantId: string,
  invoice: Invoice,
): Promise<SummaryDto> {
  const items = invoice.items ?? [];
  const charged = await mapInPortions(items, (item) => ({
    item,
    amount: new Decimal(item.amount),
  }));
  const largest = charged
    .sort((a, b) => b.amount.comparedTo(a.amount))
    .slice(0, itemsMax)
    .map(({ item }) => item);
  const ids = largest.map(({ id }) => id);
  const rows = await readRows(db, tenantId, invoice, ids);
  const previous = await findPrevious(db, tenantId, invoice);
  return {
    previous: previous ? await compare(invoice, previous) : null,
    items: largest.map((item) => presentItem(item, invoice.amount, rows.get(item.id) ?? [])),
    itemCount: items.length,
    largestEvents: await readLargestEvents(db, tenantId, invoice),
  };
}

/** A part of a whole in percent, to one place; null: there is no whole. */
const percentOf = (part: Decimal | string, whole: string): Decimal | null =>
  new Decimal(whole).isZero() ? null : new Decimal(part).div(whole).times(100).toDecimalPlaces(1);

function presentItem(
  item: InvoiceItem,
  whole: string,
  rows: readonly SummarizedRowDto[],
): SummarizedItemDto {
  return {
    id: item.id,
    description: item.description,
    amount: new Decimal(item.amount),
    percent: percentOf(item.amount, whole),
    volume: new Decimal(item.volume),
    unit: item.unit,
    ratePerUnit: item.ratePerUnit === null ? null : new Decimal(item.ratePerUnit),
    chargeType: item.chargeType,
    proration: itemProration(item),
    rows: [...rows],
    tiers: (item.tiers ?? []).map(presentTier),
  };
}

/** The factor that converts amounts of charges to the sign used on the invoice. */
const signOf = ({ isReversed }: Invoice): 1 | -1 => (isReversed ? -1 : 1);

interface RowSum {
  readonly itemId: string;
  readonly label: string | null;
  readonly attributeName: string;
  readonly priceMethod: string;
  readonly transactions: number;
  readonly volume: string;
  readonly amount: string;
}

/** What each row of a card has charged of these items, the largest first. */
async function readRows(
  db: Knex,
  tenantId: string,
  invoice: Invoice,
  itemIds: readonly string[],
): Promise<Map<string, SummarizedRowDto[]>> {
  const rows = await sqlRows<RowSum>(
    db,
    `select * from (
       select of_row.*, card_row.label,
         row_number() over (partition by "itemId" order by amount desc, row_id) as place
       from (
         select usage.invoice_item_id as "itemId", usage.rate_card_row_id as row_id,
           min(d.dimension_name) as "attributeName", min(d.price_method_type) as "priceMethod",
           count(*)::integer as "transactions", sum(d.volume) as volume,
           sum(d.calc_amount) * ${signOf(invoice)} as amount
         ${invoicePartsSql} and usage.invoice_item_id = any(?::uuid[])
           and usage.rate_card_row_id is not null
         group by 1, 2
       ) as of_row left join rate_card_row as card_row
         on card_row.tenant_id = ? and card_row.id = of_row.row_id
     ) as numbered where place <= ${rowsMax} order by place`,
    [tenantId, invoice.id, [...itemIds], tenantId],
  );
  const byItem = new Map<string, SummarizedRowDto[]>();
  for (const { itemId, label, attributeName, priceMethod, transactions, ...sums } of rows) {
    const row = {
      label,
      attributeName,
      priceMethod,
      transactions,
      volume: new Decimal(sums.volume),
      amount: new Decimal(sums.amount),
    };
    byItem.set(itemId, [...(byItem.get(itemId) ?? []), row]);
  }
  return byItem;
}

interface EventSum {
  readonly usageEventId: string;
  readonly externalTranId: string;
  readonly transactionDate: string;
  readonly volume: string;
  readonly amount: string;
}

async function readLargestEvents(
  db: Knex,
  tenantId: string,
  invoice: Invoice,
): Promise<SummaryDto['largestEvents']> {
  const rows = await sqlRows<EventSum>(
    db,
    `select t.usage_event_id as "usageEventId", min(t.external_tran_id) as "externalTranId",
       min(t.transaction_date) as "transactionDate", sum(coalesce(d.volume, t.quantity)) as "volume",
       sum(coalesce(d.calc_amount, t.amount)) * ${signOf(invoice)} as "amount"
     ${invoicePartsSql}
     group by 1 order by "amount" desc, 3, 1 limit ${eventsMax}`,
    [tenantId, invoice.id],
  );
  return rows.map(({ volume, amount, ...event }) => ({
    ...event,
    volume: new Decimal(volume),
    amount: new Decimal(amount),
  }));
}

/** The posted invoice before this one: by the end of its period, then by when it was made. */
async function findPrevious(
  db: Knex,
  tenantId: string,
  invoice: Invoice,
): Promise<Invoice | undefined> {
  const { accountId, currency, invoiceType } = invoice;
  // What is credited of an invoice is compared with nothing.
  if (invoice.creditedInvoiceId !== null) return undefined;
  const place = 'coalesce(period_end, invoice_date), created_at, id';
  const previous = await Invoice.query(db)
    .forTenant(tenantId)
    .where({ accountId, currency, invoiceType, invoiceStatus: 'Posted', creditedInvoiceId: null })
    .whereRaw(
      `(${place}) < (select ${place} from invoice as own where own.tenant_id = ? and own.id = ?)`,
      [tenantId, invoice.id],
    )
    .orderByRaw('coalesce(period_end, invoice_date) desc, created_at desc, id desc')
    .first();
  if (previous) await Invoice.loadItems(db, tenantId, [previous]);
  return previous;
}

/**
 * The key under which items of two invoices are the same charge, even if the rate has changed. What
 * corrects an earlier invoice stands by itself: it is no charge of this period.
 */
const keyOf = (item: InvoiceItem): string => {
  const { serviceId, dimensionId, description, chargeType, correctedInvoiceId } = item;
  const name = serviceId === null ? description : dimensionId;
  return JSON.stringify([serviceId, chargeType, name, correctedInvoiceId]);
};

interface Sum {
  readonly item: InvoiceItem;
  amount: Decimal;
  volume: Decimal;
}

async function sumByKey(items: readonly InvoiceItem[]): Promise<Map<string, Sum>> {
  const sums = new Map<string, Sum>();
  await eachInPortions(items, (item) => {
    const key = keyOf(item);
    const sum = sums.get(key) ?? { item, amount: ZERO, volume: ZERO };
    sum.amount = sum.amount.plus(item.amount);
    sum.volume = sum.volume.plus(item.volume);
    sums.set(key, sum);
  });
  return sums;
}

async function compare(invoice: Invoice, previous: Invoice): Promise<PreviousDto> {
  const now = await sumByKey(invoice.items ?? []);
  const before = await sumByKey(previous.items ?? []);
  const keys = [...new Set([...now.keys(), ...before.keys()])];
  const changes = await mapInPortions(keys, (key): ChangeDto[] => {
    const [own, former] = [now.get(key), before.get(key)];
    const item = own?.item ?? former?.item;
    if (!item) return [];
    const amountBefore = former?.amount ?? ZERO;
    const amount = own?.amount ?? ZERO;
    return [
      {
        description: item.description,
        chargeType: item.chargeType,
        amountBefore,
        amount,
        change: amount.minus(amountBefore),
        volumeBefore: former?.volume ?? ZERO,
        volume: own?.volume ?? ZERO,
      },
    ];
  });
  const change = new Decimal(invoice.amount).minus(previous.amount);
  const { id, invoiceNo, periodStart, periodEnd } = previous;
  return {
    invoiceId: id,
    invoiceNo,
    periodStart,
    periodEnd,
    amount: new Decimal(previous.amount),
    change,
    changePercent: percentOf(change, previous.amount),
    changes: changes
      .flat()
      .filter((one) => !one.change.isZero() || !one.volume.eq(one.volumeBefore))
      .sort((a, b) => b.change.abs().comparedTo(a.change.abs()))
      .slice(0, changesMax),
  };
}
