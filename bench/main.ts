/** `npm run bench`: every row, each with its floor measured in the same run. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import pg from 'pg';
import { readConfig } from '../src/platform/config/config.js';
import { openDatabase } from '../src/platform/database/database.js';
import { freePort } from '../src/platform/free-port.js';
import { migrateDatabase } from '../src/platform/database/migrations.js';
import { openServers } from '../test/support/servers/open-servers.js';
import { ensureTenant } from '../src/access/tenants.js';
import { fillTenant } from '../test/support/servers/fill.js';
import { benchClient, createAccounts, createServices } from './fixture.js';
import { startProcess } from './processes.js';
import { keepRows, printRows, rowInWords, type BenchRow } from './result.js';
import { measureBatch, measureFresh, measureIngest, measureRead, type Bench } from './rows.js';
import { measureRate } from './rate.js';
import { measureFlow } from './flow.js';
import { measureBill } from './bill.js';
import { measureDefinition, measureWaiting } from './definition.js';
import { measureFlat } from './flat.js';
import { measureExports } from './export.js';
import { measurePdf } from './pdf.js';
import { measureAlert } from './alert.js';
import { measureBalances } from './balances.js';
import { measureHold } from './hold.js';
import { measureCells } from './cells.js';
import { measureMove } from './move.js';
import { measureCorrect } from './correct.js';
import { measureTotals } from './totals.js';
import { measureWhatIf } from './what-if.js';
import { measureDemo } from './console/demo.js';
import { measureLive } from './console/live.js';
import { measureMemory } from './console/memory.js';
import { measurePages } from './console/pages.js';
import { measureStart } from './console/start.js';
import { measureStreams } from './console/streams.js';
import { measureAgainst } from './against.js';

const tenantId = 'bench';
const accountCount = 100;
const serviceCount = 500;

const tell = (text: string): void => void process.stderr.write(`bench: ${text}\n`);

/** What the tenant has before anything is measured: ten transactions for each of its accounts. */
async function fill(databaseUrl: string, transactions: number): Promise<void> {
  tell(`filling the tenant with ${transactions} rated transactions`);
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const accounts = Math.ceil(transactions / 10);
  await fillTenant(db, { tenantId, accounts, events: transactions, services: serviceCount });
  // What autovacuum does within minutes: a measurement does not wait for it.
  await db.query('vacuum analyze');
  await db.query('checkpoint');
  await db.end();
}

async function openBench(
  dataDir: string,
  transactions: number,
): Promise<Bench & { close(): Promise<void> }> {
  const config = readConfig({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATA_DIR: dataDir,
  });
  const servers = await openServers(config, { onProgress: tell });
  const { databaseUrl, temporal } = servers;
  await migrateDatabase(databaseUrl);
  const database = openDatabase(databaseUrl, 2);
  await ensureTenant(database.platform, tenantId);
  await database.close();
  await fill(databaseUrl, transactions);
  const common = { databaseUrl, temporal, secret: randomBytes(32).toString('base64'), tenantId };
  const start = (name: string, setup: object) =>
    startProcess(name, { BENCH_SETUP: JSON.stringify({ ...common, ...setup }) });
  const port = await freePort();
  const floorPort = await freePort();
  const product = await start('product', { port, withWorkers: false });
  const floor = await start('floor', { port: floorPort });
  const token = await product.ask<string>({ do: 'token', tenantId });
  const client = benchClient(`http://127.0.0.1:${port}`, token);
  tell(`creating ${accountCount} accounts and ${serviceCount} services`);
  const accounts = await createAccounts(client, accountCount);
  const services = await createServices(client, serviceCount);
  return {
    databaseUrl,
    tenantId,
    client,
    product,
    accounts,
    services,
    tell,
    openProduct: (setup) => start('product', setup),
    floorUrl: `http://127.0.0.1:${floorPort}`,
    async close() {
      await product.stop();
      await floor.stop();
      await servers.stop();
    },
  };
}

// The order matters: the workers start with the log that `ingest` and `batch` have filled.
const measures = {
  read: measureRead,
  ingest: measureIngest,
  batch: measureBatch,
  rate: measureRate,
  fresh: measureFresh,
  flow: measureFlow,
  workflow: measureDefinition,
  waiting: measureWaiting,
  flat: measureFlat,
  bill: measureBill,
  hold: measureHold,
  alert: measureAlert,
  balances: measureBalances,
  totals: measureTotals,
  correct: measureCorrect,
  export: measureExports,
  pdf: measurePdf,
  'what-if': measureWhatIf,
  'console:pages': measurePages,
  'console:live': measureLive,
  'console:memory': measureMemory,
  'console:streams': measureStreams,
  'console:start': measureStart,
  'console:demo': measureDemo,
  cells: measureCells,
  move: measureMove,
};

/** By its name, or with all that begin so: `console` is all rows of the console. */
const isAsked = (name: string, asked: readonly string[]): boolean =>
  asked.some((one) => name === one || name.startsWith(`${one}:`));

async function run(asked: readonly string[], transactions: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-bench-'));
  const bench = await openBench(dataDir, transactions);
  const rows: BenchRow[] = [];
  try {
    for (const [name, measure] of Object.entries(measures)) {
      if (asked.length > 0 && !isAsked(name, asked)) continue;
      tell(name);
      const measured = await measure(bench);
      // The table comes at the end, which may be half an hour away.
      for (const row of measured) tell(rowInWords(row));
      rows.push(...measured);
    }
  } finally {
    await bench.close();
    await rm(dataDir, { recursive: true, force: true });
    // Those before a row that failed have been measured.
    printRows(rows);
    await keepRows(rows, transactions);
    if (rows.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
  }
}

interface BenchOptions {
  readonly transactions: number;
  readonly against?: string;
  readonly rounds: number;
}

await new Command('npm run bench --')
  .description(
    'Measures each row beside its floor; bench/results.json and docs/bench.svg keep them.',
  )
  .argument(
    '[rows...]',
    `those alone: ${Object.keys(measures).join(', ')} (default: all); console: all of it`,
  )
  .option(
    '--transactions <count>',
    'rated transactions that the tenant has before; flat and bill bring their own',
    Number,
    10_000,
  )
  .option('--against <commit>', 'measure another commit in turn with this checkout, and compare')
  .option('--rounds <count>', 'how often each is measured with --against', Number, 2)
  .action(async (asked: string[], options: BenchOptions) => {
    const { transactions, against, rounds } = options;
    if (against === undefined) await run(asked, transactions);
    else measureAgainst(against, asked, rounds);
  })
  .parseAsync();
