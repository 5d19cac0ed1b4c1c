import pg from 'pg';
import { accountIdOf, fillTenant, serviceIdOf } from '../test/support/servers/fill.js';
import { inTurn, measureLoad } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const services = 500;
const small = { tenantId: 'flat-small', accounts: 1_000, events: 10_000, services };
const big = { tenantId: 'flat-big', accounts: 100_000, events: 1_000_000, services };
const rounds = 3;
const seconds = 2;
const aim = 0.85;

const external = '/api/v1/external';
const transactions = `${external}/rated-transactions`;
/** Ten of the 28 days. */
const dates = 'fromDate=2026-10-05&toDate=2026-10-14';
const times = 'from=2026-10-05&to=2026-10-14';

/** The lists with their filters; searches have an address for each size, and find one row in both. */
const reads: readonly (readonly [id: string, path: string, smallPath?: string])[] = [
  ['accounts', `${external}/accounts`],
  ['accounts, page 40', `${external}/accounts?page=40`],
  [
    'accounts by q',
    `${external}/accounts?q=Account%2048291`,
    `${external}/accounts?q=Account%20482`,
  ],
  ['transactions', transactions],
  ['transactions, page 400', `${transactions}?page=400`],
  ['transactions of an account', `${transactions}?accountId=${accountIdOf(17)}`],
  ['transactions by date', `${transactions}?${dates}`],
  ['transactions of an account by date', `${transactions}?accountId=${accountIdOf(17)}&${dates}`],
  ['transactions by q', `${transactions}?q=txn-482913`, `${transactions}?q=txn-4829`],
  ['events', '/v1/usage-events?limit=20'],
  ['events of an account', `/v1/usage-events?limit=20&accountId=${accountIdOf(17)}`],
  ['events of a service', `/v1/usage-events?limit=20&serviceId=${serviceIdOf(17)}`],
  ['events by time', `/v1/usage-events?limit=20&${times}`],
  ['events by external id', '/v1/usage-events?limit=20&externalTransactionId=txn-777'],
  ['events that are rejected', '/v1/usage-events?limit=20&status=rejected'],
];

async function fill(bench: Bench): Promise<void> {
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  for (const filling of [small, big]) {
    bench.tell(`filling ${filling.tenantId} with ${filling.events} rated events`);
    await db.query('insert into tenant (id, name) values ($1, $1)', [filling.tenantId]);
    await fillTenant(db, filling);
  }
  // What autovacuum does within minutes: a measurement does not wait for it.
  await db.query('vacuum analyze');
  await db.query('checkpoint');
  await db.end();
}

/** Reads of a tenant with 1,000,000 transactions against those of one with 10,000, in turn. */
export async function measureFlat(bench: Bench): Promise<BenchRow[]> {
  await fill(bench);
  const { client, product } = bench;
  const tokenOf = (tenantId: string) => product.ask<string>({ do: 'token', tenantId });
  const tokens = { big: await tokenOf(big.tenantId), small: await tokenOf(small.tenantId) };
  const rows: BenchRow[] = [];
  for (const [id, path, smallPath = path] of reads) {
    const load = (token: string, from: string) =>
      measureLoad({ url: `${client.url}${from}`, token, connections: 16, seconds });
    const { a, b, ratio } = await inTurn(
      rounds,
      () => load(tokens.big, path),
      () => load(tokens.small, smallPath),
    );
    rows.push({
      id: `flat (${id})`,
      value: a,
      floorValue: b,
      ratio,
      unit: '/s',
      transactions: big.events,
      aim: `>= ${aim}`,
      isReached: ratio >= aim,
      measure: `GET per second, ${big.events} transactions, ${big.accounts} accounts`,
      floor: `/s with ${small.events}`,
    });
  }
  return rows;
}
