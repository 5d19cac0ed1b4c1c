import type { Knex } from 'knex';
import { compareDecimals, type Decimal } from '../../kernel/numbers/money.js';
import { stringifyJson } from '../../kernel/text/json.js';
import { sqlRows } from '../db/sql-rows.js';

/** A priced row of a charge as rating computes it. */
export interface PricedRowValues {
  readonly rateCardRowId: string;
  readonly volume: Decimal;
  readonly rate: Decimal;
  readonly calcAmount: Decimal;
  readonly counterId: string | null;
  readonly counterBefore: Decimal | null;
  /** Of a UNIQUE counter: the value that it was asked to count. */
  readonly countedValue: string | null;
  /** What several accounts share, where the row is the part of one of them. */
  readonly sharedVolume: Decimal | null;
  readonly sharedAmount: Decimal | null;
}

/** The columns of a charge that hold its priced rows (docs/decisions/0321). */
export interface PricedRowColumns {
  readonly rateCardRowId: string | null;
  readonly rate: Decimal | null;
  /** Null: the quantity and the amount of the charge. */
  readonly rowVolume: Decimal | null;
  readonly rowAmount: Decimal | null;
  readonly counterId: string | null;
  readonly counterBefore: Decimal | null;
  /** JSON; null where the columns above are the only row. */
  readonly pricedRows: string | null;
}

const noRow: Omit<PricedRowColumns, 'pricedRows'> = {
  rateCardRowId: null,
  rate: null,
  rowVolume: null,
  rowAmount: null,
  counterId: null,
  counterBefore: null,
};

/** The rows of a charge of this quantity and amount as its columns. */
export function pricedRowColumns(
  quantity: Decimal,
  amount: Decimal,
  rows: readonly PricedRowValues[],
): PricedRowColumns {
  const [row] = rows;
  const isPlain = row !== undefined && row.sharedVolume === null && row.countedValue === null;
  if (!isPlain || rows.length > 1) {
    return { ...noRow, pricedRows: stringifyJson(rows.map(rowJson)) };
  }
  return {
    rateCardRowId: row.rateCardRowId,
    rate: row.rate,
    rowVolume: isSame(row.volume, quantity) ? null : row.volume,
    rowAmount: isSame(row.calcAmount, amount) ? null : row.calcAmount,
    counterId: row.counterId,
    counterBefore: row.counterBefore,
    pricedRows: null,
  };
}

/** The counter of the first of some stored rows that has one. */
export function firstCounterOf(pricedRows: string): string | null {
  const rows = JSON.parse(pricedRows) as Pick<ReturnType<typeof rowJson>, 'counter'>[];
  return rows.find(({ counter }) => counter !== null)?.counter ?? null;
}

const isSame = (a: Decimal, b: Decimal): boolean => a === b || compareDecimals(a, b) === 0;

const rowJson = (row: PricedRowValues) => ({
  row: row.rateCardRowId,
  volume: row.volume,
  rate: row.rate,
  amount: row.calcAmount,
  counter: row.counterId,
  before: row.counterBefore,
  sharedVolume: row.sharedVolume,
  sharedAmount: row.sharedAmount,
  ...(row.countedValue === null ? {} : { value: row.countedValue }),
});

/**
 * The columns of `priced_rows`, as `pricedRowColumns` writes them; the last three where a moved row
 * differs from its plan.
 */
const jsonColumns = `(row uuid, volume numeric, rate numeric, amount numeric, counter uuid,
  before numeric, "sharedVolume" numeric, "sharedAmount" numeric, value uuid, dimension uuid, name text,
  method text)`;

/**
 * SQL for the priced rows of a charge `t`, as the alias `d`: position, rate_card_row_id, volume, rate,
 * calc_amount, counter_id, counter_before, shared_volume, shared_amount, counted_value, dimension_id,
 * dimension_name and price_method_type. `join` says what becomes of a charge without rows, `on` which rows are meant,
 * by the columns of `own`. That is asked inside: outside, where little is known of a table yet, charges
 * were joined with all items before it was known which of them are in these.
 *
 * A charge of 5 with one row has the columns rate_card_row_id, rate and counter_id: (0, row, 5, …).
 * One of two rows has them in priced_rows. Charges that were not moved yet have them in
 * rated_dimension. What repeats the card comes from the recorded plan.
 */
export const pricedRowsSql = (join: 'join' | 'left join', on = 'true', t = 't'): string => `
  ${join} lateral (
    select own.*, coalesce(own.own_id, known.dimension_id) as dimension_id,
      coalesce(own.own_name, known.dimension_name) as dimension_name,
      coalesce(own.own_method, known.price_method_type) as price_method_type
    from (
      select 0::bigint as position, ${t}.rate_card_row_id,
        coalesce(${t}.row_volume, ${t}.quantity) as volume, ${t}.rate,
        coalesce(${t}.row_amount, ${t}.amount) as calc_amount, ${t}.counter_id, ${t}.counter_before,
        null::numeric as shared_volume, null::numeric as shared_amount,
        null::uuid as counted_value, null::uuid as own_id,
        null::text as own_name, null::text as own_method
      where ${t}.rate_card_row_id is not null
      union all
      select ordinality - 1, row, volume, rate, amount, counter, before, "sharedVolume",
        "sharedAmount", value, dimension, name, method
      from rows from (jsonb_to_recordset(${t}.priced_rows) as ${jsonColumns}) with ordinality
      where ${t}.priced_rows is not null
      union all
      select position, rate_card_row_id, volume, rate, calc_amount, counter_id, counter_before,
        shared_volume, shared_amount, null, dimension_id, dimension_name, price_method_type
      from rated_dimension
      where rated_dimension.tenant_id = ${t}.tenant_id and rated_dimension.transaction_id = ${t}.id
        and ${t}.rate_card_row_id is null and ${t}.priced_rows is null
    ) as own left join rating_plan_row as known
      on known.tenant_id = ${t}.tenant_id and known.plan_id = ${t}.plan_id
      and known.rate_card_row_id = own.rate_card_row_id
    where ${on} offset 0
  ) as d on true`;

/** One priced row of a rated transaction; volumes, rates and amounts are decimal text. */
export interface PricedRow {
  readonly transactionId: string;
  /** Counted from 0 in the transaction. */
  readonly position: number;
  readonly dimensionId: string;
  readonly dimensionName: string;
  readonly rateCardRowId: string;
  readonly volume: string;
  readonly rate: string;
  readonly calcAmount: string;
  readonly priceMethodType: string;
  readonly counterId: string | null;
  readonly counterBefore: string | null;
  /** What several accounts share, where the row is the part of one of them. */
  readonly sharedVolume: string | null;
  /** Of a UNIQUE counter: the value that it was asked to count. */
  readonly countedValue: string | null;
}

/** The priced rows of these charges, by charge, in their order. */
export async function readPricedRows(
  db: Knex,
  tenantId: string,
  transactionIds: readonly string[],
): Promise<Map<string, PricedRow[]>> {
  if (transactionIds.length === 0) return new Map();
  const rows = await sqlRows<PricedRow>(
    db,
    `select t.id as "transactionId", d.position::integer, d.dimension_id as "dimensionId",
       d.dimension_name as "dimensionName", d.rate_card_row_id as "rateCardRowId", d.volume, d.rate,
       d.calc_amount as "calcAmount", d.price_method_type as "priceMethodType",
       d.counter_id as "counterId", d.counter_before as "counterBefore",
       d.shared_volume as "sharedVolume", d.counted_value as "countedValue"
     from rated_transaction as t ${pricedRowsSql('join')}
     where t.tenant_id = ? and t.id = any(?::uuid[]) order by t.id, d.position`,
    [tenantId, transactionIds],
  );
  const found = new Map<string, PricedRow[]>();
  for (const row of rows) {
    const known = found.get(row.transactionId);
    if (known) known.push(row);
    else found.set(row.transactionId, [row]);
  }
  return found;
}
