import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { boundsOf } from '../../kernel/id.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { chargeId } from '../../messages/usage-log.js';
import { BulkTable } from '../db/bulk-table.js';
import { readPricedRows, type PricedRow, type PricedRowColumns } from './priced-row.js';
import { movePlaces } from './corrections/charge-place.js';
import { TenantModel } from '../db/tenant-model.js';
import { amongSql, sqlRows } from '../db/sql-rows.js';

export interface RatedTransactionRow extends PricedRowColumns {
  readonly id: string;
  readonly usageEventId: string;
  readonly externalTranId: string;
  readonly transactionDate: string;
  readonly accountId: string;
  readonly masterAccountId: string;
  readonly serviceId: string;
  readonly serviceInstanceId: string | null;
  readonly contractId: string | null;
  readonly contractServiceId: string | null;
  /** After discount, and what that took off. */
  readonly amount: Decimal;
  readonly discount: Decimal;
  readonly quantity: Decimal;
  readonly currency: string;
  readonly usageType: string;
  readonly chargeType: string;
  readonly planId: string;
  /** Which part this is of what accounts share, and the amount of all (kernel/numbers/share.ts). */
  readonly shareFrom: Decimal | null;
  readonly shareTo: Decimal | null;
  readonly shareOf: Decimal | null;
  readonly sharedAmount: Decimal | null;
  /** The correction that made it; null of what was rated as usage came. */
  readonly correctionId: string | null;
  /** When it became known; of what a correction has made, that counts instead. */
  readonly ratedAt: Date;
}

const table = new BulkTable<RatedTransactionRow>('rated_transaction', {
  id: 'uuid',
  usageEventId: 'uuid',
  externalTranId: 'text',
  transactionDate: 'date',
  accountId: 'uuid',
  masterAccountId: 'uuid',
  serviceId: 'uuid',
  serviceInstanceId: 'text',
  contractId: 'uuid',
  contractServiceId: 'uuid',
  amount: 'numeric',
  discount: 'numeric',
  quantity: 'numeric',
  currency: 'text',
  usageType: 'text',
  chargeType: 'text',
  planId: 'uuid',
  shareFrom: 'numeric',
  shareTo: 'numeric',
  shareOf: 'numeric',
  sharedAmount: 'numeric',
  rateCardRowId: 'uuid',
  rate: 'numeric',
  rowVolume: 'numeric',
  rowAmount: 'numeric',
  counterId: 'uuid',
  counterBefore: 'numeric',
  pricedRows: 'jsonb',
  correctionId: 'uuid',
  ratedAt: 'timestamptz',
});

/** The columns of a charge, as the model names them. */
const columnNames = [
  'tenantId',
  'id',
  'usageEventId',
  'externalTranId',
  'transactionDate',
  'accountId',
  'masterAccountId',
  'serviceId',
  'serviceInstanceId',
  'contractId',
  'contractServiceId',
  'amount',
  'discount',
  'taxAmount',
  'quantity',
  'currency',
  'usageType',
  'chargeType',
  'planId',
  'shareOf',
  'ratedAt',
  'reverses',
  'correctionId',
] as const;
const columnsSql = columnNames
  .map((name) => `t.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`)
  .join(', ');

/** The only priced row of a charge, beside its columns; all are null where it has none, or several. */
interface OwnRow {
  readonly rowId: string | null;
  readonly rowVolume: string;
  readonly rowRate: string;
  readonly rowAmount: string;
  readonly rowCounterId: string | null;
  readonly rowCounterBefore: string | null;
  readonly rowDimensionId: string;
  readonly rowDimensionName: string;
  readonly rowMethod: string;
}

type ChargeColumns = Pick<RatedTransaction, (typeof columnNames)[number]>;

const ownRowSql = `t.rate_card_row_id as "rowId", coalesce(t.row_volume, t.quantity) as "rowVolume",
  t.rate as "rowRate", coalesce(t.row_amount, t.amount) as "rowAmount", t.counter_id as "rowCounterId",
  t.counter_before as "rowCounterBefore", own.dimension_id as "rowDimensionId",
  own.dimension_name as "rowDimensionName", own.price_method_type as "rowMethod"`;

/** Column by column, and not by copies of all of them: millions are read. */
function chargeWithRow(found: ChargeColumns & OwnRow): RatedTransaction {
  const charge = new RatedTransaction();
  const columns: ChargeColumns = charge;
  const copy = <Name extends keyof ChargeColumns>(name: Name): void => {
    columns[name] = (found as ChargeColumns)[name];
  };
  for (const name of columnNames) copy(name);
  if (found.rowId === null) return charge;
  const row: PricedRow = {
    transactionId: charge.id,
    position: 0,
    dimensionId: found.rowDimensionId,
    dimensionName: found.rowDimensionName,
    rateCardRowId: found.rowId,
    volume: found.rowVolume,
    rate: found.rowRate,
    calcAmount: found.rowAmount,
    priceMethodType: found.rowMethod,
    counterId: found.rowCounterId,
    counterBefore: found.rowCounterBefore,
    sharedVolume: null,
    countedValue: null,
  };
  charge.dimensions = [row];
  return charge;
}

/** Charges without those that were taken back, and what took them back. */
export function standing<Charge extends Pick<RatedTransaction, 'id' | 'reverses'>>(
  charges: readonly Charge[],
): Charge[] {
  const reversed = new Set(charges.map(({ reverses }) => reverses));
  return charges.filter(({ id, reverses }) => reverses === null && !reversed.has(id));
}

/** Most events have one charge: the ids of so many are asked for first, then of so many more at once. */
const chargesFirst = 2;
const chargesAtOnce = 8;

/** All charges of events, by event, read by their ids. */
export async function readByEvent<Charge extends Pick<RatedTransaction, 'usageEventId'>>(
  eventIds: readonly string[],
  read: (chargeIds: readonly string[]) => Promise<readonly Charge[]>,
): Promise<Map<string, Charge[]>> {
  const found = new Map<string, Charge[]>();
  let asked = eventIds;
  let known = 0;
  for (let count = chargesFirst; asked.length > 0; count = chargesAtOnce) {
    const first = known + 1;
    const ids = asked.flatMap((eventId) =>
      Array.from({ length: count }, (_each, index) => chargeId(eventId, first + index)),
    );
    known += count;
    for (const charge of await read(ids)) {
      const ofEvent = found.get(charge.usageEventId);
      if (ofEvent) ofEvent.push(charge);
      else found.set(charge.usageEventId, [charge]);
    }
    const all = known;
    asked = asked.filter((eventId) => found.get(eventId)?.length === all);
  }
  return found;
}

/** What a usage event costs, or pays, an account. */
export class RatedTransaction extends TenantModel {
  static override tableName = 'rated_transaction';

  declare usageEventId: string;
  declare externalTranId: string;
  declare transactionDate: string;
  /** The billed account. */
  declare accountId: string;
  /** The account of the event, and the master account of its contract. */
  declare masterAccountId: string;
  declare serviceId: string;
  declare serviceInstanceId: string | null;
  declare contractId: string | null;
  declare contractServiceId: string | null;
  /** Amounts and quantities are decimal text. */
  declare amount: string;
  declare discount: string;
  declare taxAmount: string;
  declare quantity: string;
  declare currency: string;
  declare usageType: string;
  declare chargeType: string;
  /** Whether it is on an invoice; no column: `findBilled` sets it. */
  billed = false;
  declare planId: string;
  /** Set where several accounts share the charge: decimal text. */
  declare shareOf: string | null;
  declare ratedAt: Date;
  /** The charge that it takes back; its amount and quantity are negated. */
  declare reverses: string | null;
  declare correctionId: string | null;
  /** Its priced rows; no column: `readDimensions` sets them. */
  dimensions: readonly PricedRow[] = [];

  /**
   * The charges of an event that stand, with their dimensions, in the order in which they were made;
   * as they were known at an instant, where one is given.
   */
  static async ofEvent(
    db: Knex,
    tenantId: string,
    eventId: string,
    knownOn: Date | null = null,
  ): Promise<RatedTransaction[]> {
    const found = await RatedTransaction.allOfEvents(db, tenantId, [eventId], knownOn);
    const all = found.get(eventId) ?? [];
    const known = all.filter(({ ratedAt }) => knownOn === null || ratedAt <= knownOn);
    return [...(await RatedTransaction.findBilled(db, tenantId, standing(known)))];
  }

  /** The charges of several events that stand, without whether they are billed. */
  static async ofEvents(
    db: Knex,
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<Map<string, RatedTransaction[]>> {
    const all = await RatedTransaction.allOfEvents(db, tenantId, eventIds);
    const found = new Map<string, RatedTransaction[]>();
    for (const [eventId, charges] of all) {
      const left = standing(charges);
      if (left.length > 0) found.set(eventId, left);
    }
    return found;
  }

  /**
   * All charges of several events, with reversals and what they reverse. Their counters stand where
   * corrections have moved them, as far as that was known at an instant where one is given.
   */
  static allOfEvents(
    db: Knex,
    tenantId: string,
    eventIds: readonly string[],
    knownOn: Date | null = null,
  ): Promise<Map<string, RatedTransaction[]>> {
    return readByEvent(eventIds, async (ids) => {
      const charges = await RatedTransaction.withRows(db, tenantId, ids);
      await RatedTransaction.readKnown(db, tenantId, charges);
      await movePlaces(db, tenantId, charges, knownOn);
      return charges;
    });
  }

  /**
   * The charges of these ids with their priced rows, in one statement: corrections and what-ifs read
   * millions of them. Most have one row, in columns of their own.
   */
  private static async withRows(
    db: Knex,
    tenantId: string,
    ids: readonly string[],
  ): Promise<RatedTransaction[]> {
    const found = await sqlRows<Parameters<typeof chargeWithRow>[0]>(
      db,
      `select ${columnsSql}, ${ownRowSql}
       from rated_transaction as t left join rating_plan_row as own on own.tenant_id = t.tenant_id
         and own.plan_id = t.plan_id and own.rate_card_row_id = t.rate_card_row_id
       where t.tenant_id = :tenantId and ${amongSql('t.id')} order by t.id`,
      { tenantId, ids: arrayLiteral(ids), ...boundsOf(ids) },
    );
    const charges = found.map(chargeWithRow);
    const others = charges.filter(({ dimensions }) => dimensions.length === 0);
    if (others.length > 0) await RatedTransaction.readDimensions(db, tenantId, others);
    return charges;
  }

  /** Reads the priced rows of each. */
  static async readDimensions(
    db: Knex,
    tenantId: string,
    charges: readonly RatedTransaction[],
  ): Promise<void> {
    const rows = await readPricedRows(
      db,
      tenantId,
      charges.map(({ id }) => id),
    );
    for (const charge of charges) charge.dimensions = rows.get(charge.id) ?? [];
  }

  /**
   * Of charges that a correction has made, when that became known: they were written before
   * (docs/decisions/0385).
   */
  static async readKnown(
    db: Knex,
    tenantId: string,
    charges: readonly RatedTransaction[],
  ): Promise<void> {
    const ids = [...new Set(charges.flatMap(({ correctionId }) => correctionId ?? []))];
    if (ids.length === 0) return;
    const known = await sqlRows<{ id: string; at: Date }>(
      db,
      `select id, created_at as at from usage_correction where tenant_id = ? and id = any(?::uuid[])`,
      [tenantId, ids],
    );
    const instants = new Map(known.map(({ id, at }) => [id, at]));
    for (const charge of charges) {
      charge.ratedAt = instants.get(charge.correctionId ?? '') ?? charge.ratedAt;
    }
  }

  /** Says of each whether it is billed (docs/decisions/0110), and answers with them. */
  static async findBilled<T extends RatedTransaction>(
    db: Knex,
    tenantId: string,
    transactions: readonly T[],
  ): Promise<readonly T[]> {
    if (transactions.length === 0) return transactions;
    const rows = await sqlRows<{ id: string }>(
      db,
      `select t.id from unnest(?::uuid[], ?::uuid[], ?::date[]) as t (id, account_id, day)
       join billed_usage as known
         on known.tenant_id = ? and known.account_id = t.account_id and t.day <= known.billed_until
       where not exists (
         select from unbilled_usage as late
         where late.tenant_id = known.tenant_id and late.account_id = t.account_id
           and late.transaction_date = t.day and late.transaction_id = t.id
       )`,
      [
        transactions.map(({ id }) => id),
        transactions.map(({ accountId }) => accountId),
        transactions.map(({ transactionDate }) => transactionDate),
        tenantId,
      ],
    );
    const billed = new Set(rows.map(({ id }) => id));
    for (const transaction of transactions) transaction.billed = billed.has(transaction.id);
    return transactions;
  }

  static insertMany(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly RatedTransactionRow[],
  ): Promise<void> {
    return table.insert(trx, tenantId, rows);
  }

  /** The statements that do so. */
  static inserting(tenantId: string, rows: readonly RatedTransactionRow[]) {
    return table.insertingAll(tenantId, rows);
  }
}
