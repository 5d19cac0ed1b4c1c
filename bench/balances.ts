import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { UsageMaker, accountRef, createAccounts, createServices, openTenant } from './fixture.js';
import type { BenchClient } from './fixture.js';
import { giveMoney } from './hold.js';
import { inTurn } from './load.js';
import { drain } from './rate.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const events = Number(process.env['BENCH_BALANCES_EVENTS'] ?? 40_000);
const eventsPerBatch = 1_000;
const accountCount = 100;
const serviceCount = 20;
const alertCount = 5;
const rounds = 3;

/** A tenant of which rating is measured. */
interface Rated {
  readonly client: BenchClient;
  readonly services: readonly string[];
}

async function openRated(bench: Bench, tenantId: string, hasMoney: boolean): Promise<Rated> {
  const client = await openTenant(bench, tenantId);
  const accounts = await createAccounts(client, accountCount);
  const services = await createServices(client, serviceCount);
  if (!hasMoney) return { client, services };
  await giveMoney(client, accounts);
  for (let index = 0; index < alertCount; index += 1) {
    await client.send('POST', '/v1/alerts', {
      name: `Spend ${index}`,
      measure: 'spend',
      period: 'Monthly',
      thresholds: [10 ** (index + 1), 10 ** (index + 4)],
    });
  }
  return { client, services };
}

let runs = 0;

/** Events per second of a log that was filled before, on so many accounts. */
async function rate(
  { product }: Bench,
  db: pg.Client,
  { client, services }: Rated,
  accounts: number,
): Promise<number> {
  const run = `balances-${(runs += 1)}`;
  const maker = new UsageMaker(run, services, accounts);
  const month = new Date().toISOString().slice(0, 7);
  await product.ask({ do: 'stopWorkers' });
  for (let sent = 0; sent < events; sent += eventsPerBatch) {
    const body = Array.from({ length: eventsPerBatch }, (_each, index) => ({
      message: {
        ...maker.next().message,
        // Of the running month, which alerts count.
        eventTimestamp: `${month}-01T00:00:00Z`,
        billingAccountRef: accountRef(index % accounts),
        dimensions: { api_calls: String(2_000 + (index % 50)) },
      },
    }));
    await client.send('POST', '/v1/ingest/usage/batch', body);
  }
  await db.query('checkpoint');
  await product.ask({ do: 'startWorkers' });
  const seconds = await drain(db);
  const isBehind = async () => (await db.query('select from usage_change limit 1')).rowCount !== 0;
  while (await isBehind()) await wait(50);
  return events / seconds;
}

/** Events per second with the journal behind rating, or without it. */
async function rateAndMerge(bench: Bench, db: pg.Client, of: Rated, hasJournal: boolean) {
  const change = hasJournal ? 'enable' : 'disable';
  await db.query(`alter table usage_change ${change} trigger journal`);
  try {
    return await rate(bench, db, of, accountCount);
  } finally {
    await db.query('alter table usage_change enable trigger journal');
  }
}

/** Rating where grants pay and alerts count, on all wallets and on one, against rating without. */
export async function measureBalances(bench: Bench): Promise<BenchRow[]> {
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  const plain = await openRated(bench, 'bench-plain', false);
  const paid = await openRated(bench, 'bench-paid', true);
  // The first ones fill caches.
  await rate(bench, db, plain, accountCount);
  await rate(bench, db, paid, accountCount);
  const all = await inTurn(
    rounds,
    () => rate(bench, db, paid, accountCount),
    () => rate(bench, db, plain, accountCount),
  );
  const one = await inTurn(
    rounds,
    () => rate(bench, db, paid, 1),
    () => rate(bench, db, paid, accountCount),
  );
  const journal = await inTurn(
    rounds,
    () => rateAndMerge(bench, db, plain, true),
    () => rateAndMerge(bench, db, plain, false),
  );
  await db.end();
  const rowOf = (
    id: string,
    { a, b, ratio }: typeof all,
    aim: number,
    floor: string,
    measure: string,
  ): BenchRow => ({
    id,
    value: a,
    floorValue: b,
    ratio,
    unit: '/s',
    aim: `>= ${aim}`,
    isReached: ratio >= aim,
    measure,
    floor,
  });
  return [
    rowOf(
      'rate (with grants and alerts)',
      all,
      0.7,
      '/s rating of the same events without',
      `events/s from a filled log, each paid by a grant, with ${alertCount} alerts`,
    ),
    rowOf(
      'rate (one wallet)',
      one,
      0.7,
      '/s rating over 100 wallets',
      'events/s from a filled log, all of one account, each paid by its grant',
    ),
    rowOf(
      'rate (with the journal)',
      journal,
      0.95,
      '/s rating without the journal',
      'events/s from a filled log, booked in the journal behind it',
    ),
  ];
}
