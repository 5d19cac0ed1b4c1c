import { join } from 'node:path';
import { isModel, priceModels, type ImportedBook, type ImportedPrice } from './book.js';
import { readCsvRows, type CsvRow } from './csv-file.js';
import { Faults } from './faults.js';

/**
 * A folder with customers.csv (externalId, name, currency), prices.csv (meter, currency, model,
 * amount, packageSize, upTo, unitAmount, flatAmount, customer; a row for each tier) and usage.csv (id,
 * customer, meter, at, quantity).
 */
export async function readCsvBook(folder: string): Promise<ImportedBook> {
  const faults = new Faults();
  const rowsOf = (file: string, ...columns: readonly string[]) =>
    readCsvRows(join(folder, file), columns, faults.add);
  const customers: ImportedBook['customers'][number][] = [];
  for await (const { place, cell } of rowsOf('customers.csv', 'externalId', 'name')) {
    const [externalId, name, currency] = [cell('externalId'), cell('name'), cell('currency')];
    customers.push({ place, externalId, name, currency: currency || null });
  }
  return {
    customers,
    prices: await pricesOf(rowsOf('prices.csv', 'meter', 'currency', 'model'), faults),
    events: async function* () {
      const rows = rowsOf('usage.csv', 'id', 'customer', 'meter', 'at', 'quantity');
      for await (const { place, cell } of rows) {
        const [id, customer, meter] = [cell('id'), cell('customer'), cell('meter')];
        yield { place, id, customer, meter, at: cell('at'), quantity: cell('quantity') };
      }
    },
    left: [],
    faults,
  };
}

const isTiered = (model: string | null): boolean => model === 'graduated' || model === 'volume';

/** Rows of one meter, currency and customer are the tiers of one price. */
async function pricesOf(rows: AsyncIterable<CsvRow>, faults: Faults): Promise<ImportedPrice[]> {
  const prices: ImportedPrice[] = [];
  const places = new Map<string, number>();
  for await (const { place, cell } of rows) {
    const [meter, currency, named] = [cell('meter'), cell('currency'), cell('model')];
    const customer = cell('customer');
    const model = isModel(named) ? named : null;
    if (model === null) {
      faults.add(place, `model '${named}' is no model; they are ${priceModels.join(', ')}`);
    }
    const tier = {
      place,
      to: cell('upTo') || null,
      unitAmount: cell('unitAmount') || '0',
      flatAmount: cell('flatAmount') || '0',
    };
    const key = JSON.stringify([meter, currency, customer]);
    const at = places.get(key) ?? prices.length;
    const known = prices[at];
    const isTier = known && (model === null || known.model === null || known.model === model);
    if (isTier && (model === null || isTiered(model))) {
      prices[at] = { ...known, model: known.model ?? model, tiers: [...known.tiers, tier] };
      continue;
    }
    if (!known) places.set(key, at);
    prices.push({
      place,
      meter,
      currency,
      model,
      amount: cell('amount'),
      packageSize: cell('packageSize') || null,
      tiers: [tier],
      customer: customer || null,
    });
  }
  return prices;
}
