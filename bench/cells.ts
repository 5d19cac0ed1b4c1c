import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/embedded/embedded-postgres.js';
import { freePort } from '../src/platform/free-port.js';
import { readConfig } from '../src/platform/config/config.js';
import { migrateDatabase } from '../src/platform/database/migrations.js';
import { nameDatabase } from '../test/support/servers/cells.js';
import { benchClient, createAccounts, createServices, UsageMaker } from './fixture.js';
import type { BenchClient } from './fixture.js';
import { inTurn, measureCalls } from './load.js';
import { drain } from './rate.js';
import type { BenchProcess } from './processes.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const rounds = 5;
const eventsPerRound = 10_000;
const eventsPerBatch = 1_000;
const readsPerRound = 4_000;
const aim = 1.05;
const accounts = 100;
export const services = 100;
export const otherCell = 'eu1';

/** What the kernel says of a process, from its state and its parent on; none where it has ended. */
function statOf(pid: string): readonly string[] {
  try {
    // The name before may have blanks.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Seconds of processor time that a process and all of its children have used, those that ended, too. */
function processorSeconds(pid: number): number {
  // utime, stime, cutime and cstime, in ticks of 10 ms.
  const used = (stat: readonly string[]): number =>
    stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter(([, parent]) => parent === `${pid}`);
  return [statOf(`${pid}`), ...children].reduce((sum, each) => sum + used(each), 0);
}

/** The process of a PostgreSQL server: the parent of those that serve its connections. */
async function postmasterOf(databaseUrl: string): Promise<number> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [, parent] = statOf(`${rows[0]?.pid}`);
  await db.end();
  if (parent === undefined) throw new Error('The server is not on this machine.');
  return Number(parent);
}

/** A tenant that sends and reads. */
export interface BenchTenant {
  readonly id: string;
  readonly client: BenchClient;
  readonly maker: UsageMaker;
  readonly accountId: string;
  /** The server that it is in. */
  readonly db: pg.Client;
}

/** A product with workers, and two tenants that do as much as each other. */
export interface Side {
  readonly product: BenchProcess;
  readonly tenants: readonly BenchTenant[];
  /** Another tenant in the home database. */
  readonly openAtHome: (id: string) => Promise<BenchTenant>;
  /** Seconds of processor time of its product and its servers. */
  used(): Promise<number>;
  close(): Promise<void>;
}

/** Makes a tenant in a cell, with what it rates by. */
async function openTenantIn(
  product: BenchProcess,
  port: number,
  id: string,
  { cell, url }: { cell: string; url: string },
): Promise<BenchTenant> {
  const db = new pg.Client({ connectionString: url });
  // Where something fails, its server ends before it, which must not hide what has failed.
  db.on('error', () => undefined);
  await db.connect();
  const token = await product.ask<string>({ do: 'makeTenant', tenantId: id, cell });
  const client = benchClient(`http://127.0.0.1:${port}`, token);
  const [accountId = ''] = await createAccounts(client, accounts);
  const maker = new UsageMaker(id, await createServices(client, services), accounts);
  return { id, client, db, accountId, maker };
}

/** Both tenants are in the home database, unless there is a cell for the second one. */
export async function openSide(
  bench: Bench,
  name: string,
  homeUrl: string,
  cellUrl?: string,
): Promise<Side> {
  const port = await freePort();
  const secret = randomBytes(32).toString('base64');
  const cells = cellUrl === undefined ? [] : [{ name: otherCell, url: cellUrl }];
  const setup = { databaseUrl: homeUrl, cells, port, secret, taskQueue: name, withWorkers: true };
  const product = await bench.openProduct(setup);
  const home = { cell: 'home', url: homeUrl };
  const places = [home, cellUrl === undefined ? home : { cell: otherCell, url: cellUrl }];
  const open = (id: string, place: { cell: string; url: string }) =>
    openTenantIn(product, port, `${name}-${id}`, place);
  const tenants: BenchTenant[] = [];
  for (const [index, place] of places.entries()) tenants.push(await open(`${index}`, place));
  const servers = await Promise.all([...new Set(places.map(({ url }) => url))].map(postmasterOf));
  return {
    product,
    tenants,
    openAtHome: (id) => open(id, home),
    async used() {
      const own = await product.ask<number>({ do: 'processorSeconds' });
      return own + servers.reduce((sum, pid) => sum + processorSeconds(pid), 0);
    },
    async close() {
      await product.stop();
      await Promise.all(tenants.map(({ db }) => db.end()));
    },
  };
}

/** A migrated database of its own in the server of an address. */
async function makeDatabase(serverUrl: string, name: string): Promise<string> {
  const db = new pg.Client({ connectionString: serverUrl });
  await db.connect();
  await db.query(`create database ${name}`);
  await db.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrateDatabase(url.href);
  return url.href;
}

/** Microseconds of processor time for each of what `work` does. */
async function processorTime(side: Side, count: number, work: () => Promise<void>) {
  const before = await side.used();
  await work();
  return (((await side.used()) - before) / count) * 1_000_000;
}

/** From the request that brings events to their charges. */
const rateOn = (side: Side) =>
  processorTime(side, eventsPerRound, async () => {
    for (let sent = 0; sent < eventsPerRound; sent += eventsPerBatch) {
      const tenant = side.tenants[(sent / eventsPerBatch) % 2];
      const body = Array.from({ length: eventsPerBatch }, () => tenant?.maker.next());
      await tenant?.client.send('POST', '/v1/ingest/usage/batch', body);
    }
    for (const { db } of side.tenants) await drain(db);
  });

const readOn = (side: Side) =>
  processorTime(side, readsPerRound, async () => {
    for (const { client, accountId } of side.tenants) {
      const url = `${client.url}/api/v1/external/accounts/${accountId}`;
      await measureCalls({ url, token: client.token, connections: 16, count: readsPerRound / 2 });
    }
  });

const costRow = (what: string, { a, b, ratio }: { a: number; b: number; ratio: number }) =>
  ({
    id: `cells (${what})`,
    value: a,
    floorValue: b,
    ratio,
    unit: 'us',
    aim: `<= ${aim}`,
    isReached: ratio <= aim,
    measure: `processor time of a ${what}, product and PostgreSQL, a tenant in each of two cells`,
    floor: 'us with both in one',
  }) satisfies BenchRow;

/** A PostgreSQL server beside the one of the bench, and a home database that knows it. */
export async function openCell(bench: Bench) {
  const dataDir = await mkdtemp(join(tmpdir(), 'durabill-bench-cell-'));
  const { cacheDir } = readConfig({ ...process.env, DATA_DIR: dataDir });
  bench.tell('starting another PostgreSQL server');
  const cell = await startEmbeddedPostgres({ dataDir, cacheDir });
  await migrateDatabase(cell.url);
  await nameDatabase(cell.url, otherCell);
  const homeUrl = await makeDatabase(bench.databaseUrl, `bench_home_${Date.now()}`);
  await nameDatabase(homeUrl, 'home');
  return {
    homeUrl,
    cellUrl: cell.url,
    close: async (): Promise<void> => {
      await cell.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** What a tenant costs where it is in one of two cells. */
export async function measureCells(bench: Bench): Promise<BenchRow[]> {
  const { homeUrl, cellUrl, close } = await openCell(bench);
  const one = await openSide(bench, 'one', await makeDatabase(bench.databaseUrl, 'bench_one'));
  const two = await openSide(bench, 'two', homeUrl, cellUrl);
  try {
    bench.tell('warming up');
    for (const side of [one, two]) for (let turn = 0; turn < 2; turn += 1) await rateOn(side);
    const row = async (what: string, cost: (side: Side) => Promise<number>) => {
      bench.tell(what);
      return costRow(
        what,
        await inTurn(
          rounds,
          () => cost(two),
          () => cost(one),
        ),
      );
    };
    return [await row('rated event', rateOn), await row('read', readOn)];
  } finally {
    await Promise.all([one.close(), two.close()]);
    await close();
  }
}
