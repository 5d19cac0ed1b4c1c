import { join } from 'node:path';
import { priceModels, type ImportedBook, type ImportedPrice, type PriceModel } from './book.js';
import { readCsvRows, type CsvRow } from './csv-file.js';

/**
 * A folder with customers.csv (externalId, name, currency), prices.csv (meter, currency, model,
 * amount, packageSize, upTo, unitAmount, flatAmount, customer; a row for each tier) and usage.csv (id,
 * customer, meter, at, quantity).
 */
export async function readCsvBook(folder: string): Promise<ImportedBook> {
  const customers: ImportedBook['customers'][number][] = [];
  for await (const { place, cell } of readCsvRows(join(folder, 'customers.csv'), [
    'externalId',
    'name',
  ])) {
    const [externalId, name, currency] = [cell('externalId'), cell('name'), cell('currency')];
    customers.push({ place, externalId, name, currency: currency || null });
  }
  const usage = ['id', 'customer', 'meter', 'at', 'quantity'];
  return {
    customers,
    prices: await pricesOf(readCsvRows(join(folder, 'prices.csv'), ['meter', 'currency', 'model'])),
    events: async function* () {
      for await (const { place, cell } of readCsvRows(join(folder, 'usage.csv'), usage)) {
        const [id, customer, meter] = [cell('id'), cell('customer'), cell('meter')];
        yield { place, id, customer, meter, at: cell('at'), quantity: cell('quantity') };
      }
    },
    left: [],
  };
}

const isModel = (text: string): text is PriceModel =>
  (priceModels as readonly string[]).includes(text);

const isTiered = (model: string): boolean => model === 'graduated' || model === 'volume';

/** Rows of one meter, currency and customer are the tiers of one price. */
async function pricesOf(rows: AsyncIterable<CsvRow>): Promise<ImportedPrice[]> {
  const prices = new Map<string, ImportedPrice>();
  for await (const { place, cell } of rows) {
    const [meter, currency, model] = [cell('meter'), cell('currency'), cell('model')];
    const customer = cell('customer');
    if (!isModel(model)) {
      throw new Error(`${place}: '${model}' is no model; they are ${priceModels.join(', ')}.`);
    }
    const key = JSON.stringify([meter, currency, customer]);
    const known = prices.get(key);
    if (known && !(isTiered(model) && known.model === model)) {
      throw new Error(`${place}: the price of '${meter}' stands at ${known.place} already.`);
    }
    const tier = {
      to: cell('upTo') || null,
      unitAmount: cell('unitAmount') || '0',
      flatAmount: cell('flatAmount') || '0',
    };
    prices.set(key, {
      place: known?.place ?? place,
      meter,
      currency,
      model,
      amount: cell('amount') || '0',
      packageSize: cell('packageSize') || null,
      tiers: [...(known?.tiers ?? []), tier],
      customer: customer || null,
    });
  }
  return [...prices.values()];
}
