import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runIngest } from '../usage/ingest-run.js';
import { ApiClient } from './api-client.js';
import { bookJson, type ImportedBook } from './book.js';
import { checkBook, messageOf } from './check-book.js';
import { readCsvBook } from './csv-book.js';
import { readLagoBook } from './lago-book.js';
import { makePrices } from './make-prices.js';
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
 * there already stays as it is, so that an import that broke off is started again; a price that is
 * another one here is named.
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
  const { services, kept } = await makePrices(api, prices, rows);
  for (const what of kept) process.stderr.write(`stays as it is: ${what}\n`);
  if (kept.length > 0) process.exitCode = 1;
  if (events > 0) await sendEvents(book, services, options);
}

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

/** Sends past usage as any usage is sent: an event that was sent before is a duplicate. */
async function sendEvents(
  { events }: ImportedBook,
  services: ReadonlyMap<string, string>,
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
