import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runIngest } from '../usage/ingest-run.js';
import { ApiClient } from './api-client.js';
import {
  bookJson,
  isMetered,
  quantityAttribute,
  type ImportedBook,
  type ImportedPrice,
} from './book.js';
import { checkBook, messageOf } from './check-book.js';
import { readCsvBook } from './csv-book.js';
import { readLagoBook } from './lago-book.js';
import { readStripeBook } from './stripe-book.js';

const sources = {
  csv: readCsvBook,
  lago: readLagoBook,
  stripe: readStripeBook,
} as const;
type Source = keyof typeof sources;

export interface ImportOptions {
  readonly tenant: string;
  readonly from: Source;
  readonly url?: string;
  readonly dryRun?: true;
}

const base = '/api/v1/external';

/**
 * Reads a folder of another billing system, and makes its customers, prices and usage here. What is
 * there already stays as it is, so that an import that broke off is started again.
 */
export async function importFromTerminal(folder: string, options: ImportOptions): Promise<void> {
  const book = await sources[options.from](folder);
  const { rows, events } = await checkBook(book);
  for (const what of book.left) process.stderr.write(`left behind: ${what}\n`);
  if (book.left.length > 0) process.exitCode = 1;
  const { customers, prices } = book;
  const text = `${customers.length} customers, ${prices.length} prices, ${events} events`;
  process.stdout.write(`${text}\n`);
  if (options.dryRun === true) return;
  const api = await ApiClient.open(options.tenant, options.url);
  await makeCustomers(api, book);
  const services = await makeServices(api, prices, rows);
  await makeContracts(api, { prices, rows, services });
  if (events > 0) await sendEvents(book, services, options);
}

type Rows = ReadonlyMap<ImportedPrice, object>;
type Ids = ReadonlyMap<string, string>;

async function makeCustomers(api: ApiClient, { customers }: ImportedBook): Promise<void> {
  for (const { externalId, name, currency } of customers) {
    const body = {
      name,
      externalId,
      ...(currency === null ? {} : { defaultCurrency: currency }),
    };
    await api.make(`${base}/accounts`, bookJson(body));
  }
}

/** A service for each meter, with the prices that are everybody's. */
async function makeServices(
  api: ApiClient,
  prices: readonly ImportedPrice[],
  rows: Rows,
): Promise<Ids> {
  const ids = new Map<string, string>();
  for (const meter of new Set(prices.map((price) => price.meter))) {
    const own = prices.filter((price) => price.meter === meter);
    const known = await api.find<{ id: string }>(`${base}/services/${encodeURIComponent(meter)}`);
    const attribute = {
      name: quantityAttribute,
      dimensionDataType: 'Number',
      ...(own.some(isMetered) ? { isMeterDimension: true, meterResetFrequency: 'Monthly' } : {}),
    };
    const body = {
      name: meter,
      currency: own[0]?.currency,
      priceableAttributes: [attribute],
      rateCards: own
        .filter(({ customer }) => customer === null)
        .map((price) => ({ currency: price.currency, rows: [rows.get(price)] })),
    };
    const id = known?.id ?? (await api.post<{ id: string }>(`${base}/services`, bookJson(body))).id;
    ids.set(meter, id);
  }
  return ids;
}

interface Contracted {
  readonly prices: readonly ImportedPrice[];
  readonly rows: Rows;
  readonly services: Ids;
}

/** A contract for each customer and currency with prices of its own, with a line for each of them. */
async function makeContracts(
  api: ApiClient,
  { prices, rows, services }: Contracted,
): Promise<void> {
  const groups = new Map<string, ImportedPrice[]>();
  for (const price of prices) {
    if (price.customer === null) continue;
    const number = `moved-${price.customer}-${price.currency}`;
    groups.set(number, [...(groups.get(number) ?? []), price]);
  }
  for (const [number, own] of groups) {
    const [first] = own;
    const body = {
      number,
      name: number,
      masterAccountId: first?.customer,
      currency: first?.currency,
      services: own.map((price) => ({
        serviceId: services.get(price.meter),
        rateCards: [{ currency: price.currency, rows: [rows.get(price)] }],
      })),
    };
    await api.make(`${base}/contracts`, bookJson(body));
  }
}

/** Sends past usage as any usage is sent: an event that was sent before is a duplicate. */
async function sendEvents(
  { events }: ImportedBook,
  services: Ids,
  { tenant, url }: ImportOptions,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'durabill-import-'));
  try {
    const path = join(folder, 'usage.ndjson');
    const lines = async function* () {
      for await (const event of events()) {
        yield `${bookJson(messageOf(event, services.get(event.meter)))}\n`;
      }
    };
    await writeFile(path, lines());
    await runIngest(path, { tenant, org: 'import', ...(url === undefined ? {} : { url }) });
  } finally {
    await rm(folder, { recursive: true });
  }
}
