import pg from 'pg';
import {
  accountIdOf,
  fillSearch,
  fillTenant,
  serviceIdOf,
  type Filling,
} from '../test/support/servers/fill.js';
import { benchClient } from './fixture.js';
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
const records = '/v1/mobjects/many/mdata';
const recordFields = [
  { name: 'number', type: 'number' },
  { name: 'text', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'flag', type: 'boolean' },
];
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
  ['events that are rated', '/v1/usage-events?limit=20&status=rated'],
  ['events by code', '/v1/usage-events?limit=20&code=NO_RATE_CARD'],
  [
    'events of an hour',
    '/v1/usage-events?limit=20&from=2026-10-05T10:00:00Z&to=2026-10-05T11:00:00Z',
  ],
  [
    'events of an account by time',
    `/v1/usage-events?limit=20&accountId=${accountIdOf(17)}&${times}`,
  ],
  ['records by number', `${records}?filter=number:eq:777`],
  ['records by range', `${records}?filter=number:gte:100&filter=number:lt:160`],
  ['records by list', `${records}?filter=number:in:5,50,500,5000`],
  ['records by text', `${records}?filter=text:eq:record%204829`],
  [
    'records by part of a text',
    `${records}?filter=text:contains:ecord%20482913`,
    `${records}?filter=text:contains:ecord%204829`,
  ],
  ['records by day', `${records}?filter=day:eq:2020-01-01`],
  ['records by day and flag', `${records}?filter=day:eq:2020-01-01&filter=flag:eq:true`],
];

/**
 * As many records as the tenant has events, with what a bulk of them would have written. The first
 * thousand are flagged, and each has a day of its own, so that both tenants find equally many.
 */
async function fillRecords(bench: Bench, db: pg.Client, { tenantId, events }: Filling) {
  const token = await bench.product.ask<string>({ do: 'token', tenantId });
  const client = benchClient(bench.client.url, token);
  const type = await client.send('POST', '/v1/mobjects', { name: 'many', fields: recordFields });
  const { rows } = await db.query<{ keys: Readonly<Record<string, string>> }>(
    'select keys from record_type where tenant_id = $1 and id = $2',
    [tenantId, type.id],
  );
  const keys = rows[0]?.keys ?? {};
  const keyed = recordFields.filter(({ name }) => keys[name] !== undefined);
  await db.query(
    `insert into record (tenant_id, id, record_type_id, data, created_at, updated_at,
       ${keyed.map(({ name }) => keys[name]).join(', ')})
     select $1, gen_random_uuid(), $2, data, now(), now(),
       ${keyed.map(({ name, type: kind }) => `record_key(data -> '${name}', '${kind}')`).join(', ')}
     from generate_series(0, $3::bigint - 1) as i, jsonb_build_object('number', i,
       'text', 'record ' || i, 'day', (date '2020-01-01' + i::integer)::text, 'flag', i < 1000) as data`,
    [tenantId, type.id, events],
  );
}

async function fill(bench: Bench): Promise<void> {
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  for (const filling of [small, big]) {
    bench.tell(`filling ${filling.tenantId} with ${filling.events} rated events`);
    await db.query('insert into tenant (id, name) values ($1, $1)', [filling.tenantId]);
    await fillTenant(db, filling);
    await fillSearch(db, filling.tenantId);
    await fillRecords(bench, db, filling);
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
