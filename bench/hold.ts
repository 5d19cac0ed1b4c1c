import autocannon from 'autocannon';
import pg from 'pg';
import { createAccounts, openTenant, type BenchClient } from './fixture.js';
import { median } from './load.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const accountCount = 500;
const connections = 8;
const seconds = 5;
const rounds = 3;

interface Load {
  readonly perSecond: number;
  readonly p50: number;
}

/** Holds of one unit of an account each; all must be 201. */
async function hold(
  { url, token }: Pick<BenchClient, 'url' | 'token'>,
  path: string,
  accounts: readonly string[],
): Promise<Load> {
  const run = performance.now();
  let next = 0;
  const setupRequest = (request: autocannon.Request) => {
    next += 1;
    const body = {
      accountId: accounts[next % accounts.length],
      currency: 'USD',
      amount: 1,
      expiresInSeconds: 3_600,
      key: `${run}-${next}`,
    };
    return { ...request, body: JSON.stringify(body) };
  };
  const result = await autocannon({
    url: `${url}${path}`,
    connections,
    method: 'POST',
    duration: seconds,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    requests: [{ setupRequest }],
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${path}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`);
  }
  return { perSecond: result['2xx'] / result.duration, p50: result.latency.p50 };
}

/** Gives accounts of the tenant, or of a floor, money that no measurement uses up. */
export async function giveMoney(client: BenchClient, accounts: readonly string[]): Promise<void> {
  for (const accountId of accounts) {
    const wallet = {
      accountId,
      currency: 'USD',
      title: `Credits ${accountId}`,
      balance: 100_000_000,
    };
    await client.send('POST', '/api/v1/external/wallets', wallet);
  }
}

/** The balances of the floor: one row for each account, and its holds. */
async function openFloor(databaseUrl: string, accounts: readonly string[]): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query(`
    create table if not exists floor_balance (account_id uuid primary key,
      balance numeric not null, held numeric not null, check (held <= balance));
    create table if not exists floor_hold (key text primary key, account_id uuid not null,
      amount numeric not null, expires_at timestamptz not null)`);
  await db.query(
    'insert into floor_balance select unnest($1::uuid[]), 100000000, 0 on conflict do nothing',
    [accounts],
  );
  await db.end();
}

/** Holds over all accounts and on one wallet, against two statements in a transaction. */
export async function measureHold(bench: Bench): Promise<BenchRow[]> {
  const { floorUrl } = bench;
  const client = await openTenant(bench, 'bench-hold');
  const { token } = client;
  const accounts = await createAccounts(client, accountCount);
  await giveMoney(client, accounts);
  await openFloor(bench.databaseUrl, accounts);
  const pairs = [
    ['hold', 'over 500 accounts', accounts, 1_000],
    ['hold (one wallet)', 'of one account', accounts.slice(0, 1), 300],
  ] as const;
  const rows: BenchRow[] = [];
  for (const [id, what, of, aim] of pairs) {
    const found: { own: Load; floor: Load }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = await hold(client, '/v1/holds', of);
      found.push({ own, floor: await hold({ url: floorUrl, token }, '/holds', of) });
    }
    const value = median(found.map(({ own }) => own.perSecond));
    const floorValue = median(found.map(({ floor }) => floor.perSecond));
    const p50 = median(found.map(({ own }) => own.p50));
    const isFast = id !== 'hold' || p50 < 10;
    rows.push({
      id,
      value,
      floorValue,
      ratio: value / floorValue,
      unit: '/s',
      aim: `>= ${aim.toLocaleString('en')}/s${id === 'hold' ? ', p50 < 10 ms' : ''}`,
      isReached: value >= aim && isFast,
      measure: `POST /v1/holds per second ${what}, ${connections} connections, p50 ${p50} ms`,
      floor: '/s bare Koa, a transaction of two statements',
    });
  }
  return rows;
}
