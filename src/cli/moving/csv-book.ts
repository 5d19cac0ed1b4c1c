import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { priceModels, type ImportedBook, type ImportedPrice, type PriceModel } from './book.js';

type Row = Readonly<Record<string, string>>;

/** The rows of a CSV file with a header. Throws where a column is missing. */
export async function readCsv(path: string, required: readonly string[]): Promise<Row[]> {
  const rows = parse<Row>(await readFile(path), { bom: true, trim: true, columns: true });
  const missing = required.filter((name) => rows[0] !== undefined && !(name in rows[0]));
  if (missing.length > 0) throw new Error(`${path} lacks the columns ${missing.join(', ')}.`);
  return rows;
}

/**
 * A folder with customers.csv (externalId, name, currency), prices.csv (meter, currency, model,
 * amount, packageSize, upTo, unitAmount, flatAmount, customer; a row for each tier) and usage.csv (id,
 * customer, meter, at, quantity).
 */
export async function readCsvBook(folder: string): Promise<ImportedBook> {
  const customers = await readCsv(join(folder, 'customers.csv'), ['externalId', 'name']);
  const prices = await readCsv(join(folder, 'prices.csv'), ['meter', 'currency', 'model']);
  const usage = await readCsv(join(folder, 'usage.csv'), [
    'id',
    'customer',
    'meter',
    'at',
    'quantity',
  ]);
  return {
    customers: customers.map((row) => ({
      externalId: row['externalId'] ?? '',
      name: row['name'] ?? '',
      currency: row['currency'] || null,
    })),
    prices: pricesOf(prices),
    events: usage.map((row) => ({
      id: row['id'] ?? '',
      customer: row['customer'] ?? '',
      meter: row['meter'] ?? '',
      at: row['at'] ?? '',
      quantity: row['quantity'] ?? '',
    })),
    left: [],
  };
}

const isModel = (text: string): text is PriceModel =>
  (priceModels as readonly string[]).includes(text);

/** Rows of one meter, currency and customer are the tiers of one price. */
function pricesOf(rows: readonly Row[]): ImportedPrice[] {
  const prices = new Map<string, ImportedPrice>();
  for (const [index, row] of rows.entries()) {
    const { meter = '', currency = '', model = '', customer = '' } = row;
    if (!isModel(model)) {
      throw new Error(
        `prices.csv, row ${index + 1}: '${model}' is no model; they are ${priceModels.join(', ')}.`,
      );
    }
    const key = JSON.stringify([meter, currency, customer]);
    const tier = {
      to: row['upTo'] || null,
      unitAmount: row['unitAmount'] || '0',
      flatAmount: row['flatAmount'] || '0',
    };
    prices.set(key, {
      meter,
      currency,
      model,
      amount: row['amount'] || '0',
      packageSize: row['packageSize'] || null,
      tiers: [...(prices.get(key)?.tiers ?? []), tier],
      customer: customer || null,
    });
  }
  return [...prices.values()];
}
