import pg from 'pg';
import type { UsageMessage } from '../src/messages/broker.js';
import { UsageMaker, accountRef, createAccounts, createServices, openTenant } from './fixture.js';
import type { BenchClient } from './fixture.js';
import { giveMoney } from './hold.js';
import { inTurn } from './load.js';
import { drain } from './rate.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const events = Number(process.env['BENCH_BALANCES_EVENTS'] ?? 20_000);
const accountCount = 100;
const serviceCount = 20;
const alertCount = 5;
const rounds = 5;

/** A tenant of which rating is measured. */
interface Rated {
  readonly tenantId: string;
  readonly client: BenchClient;
  readonly services: readonly string[];
}

async function openRated(bench: Bench, tenantId: string, hasMoney: boolean): Promise<Rated> {
  const client = await openTenant(bench, tenantId);
  const accounts = await createAccounts(client, accountCount);
  const services = await createServices(client, serviceCount);
  if (!hasMoney) return { tenantId, client, services };
  await giveMoney(client, accounts);
  for (let index = 0; index < alertCount; index += 1) {
    await client.send('POST', '/v1/alerts', {
      name: `Spend ${index}`,
      measure: 'spend',
      period: 'Monthly',
      thresholds: [10 ** (index + 1), 10 ** (index + 4)],
    });
  }
  return { tenantId, client, services };
}

let runs = 0;

/**
 * Events per second of usage on so many accounts that is there at one instant, until it is rated, or until
 * it is added up, too. The workers run all the time, so that rounds differ by what is measured alone.
 */
async function rate(
  { product }: Bench,
  db: pg.Client,
  { tenantId, services }: Rated,
  { accounts, until }: { readonly accounts: number; readonly until: 'rated' | 'added up' },
): Promise<number> {
  const maker = new UsageMaker(`balances-${(runs += 1)}`, services, accounts);
  const month = new Date().toISOString().slice(0, 7);
  const messages = Array.from({ length: events }, (_each, index): UsageMessage => {
    const { key, message } = maker.next();
    const ref = accountRef(index % accounts);
    const event = {
      ...message,
      // Of the running month, which alerts count.
      eventTimestamp: `${month}-01T00:00:00Z`,
      billingAccountRef: ref,
      dimensions: { api_calls: String(2_000 + (index % 50)) },
    };
    const text = JSON.stringify(event);
    return { tenantId, partitionKey: ref, key, orgId: 'bench', message: text };
  });
  await db.query('checkpoint');
  const since = await product.ask<number>({ do: 'publish', messages });
  await drain(db);
  const ratedAt = Date.now();
  const isBehind = async () => (await db.query('select from usage_change limit 1')).rowCount !== 0;
  while (await isBehind()) await product.ask({ do: 'project', tenantId });
  return (events * 1_000) / ((until === 'rated' ? ratedAt : Date.now()) - since);
}

/** Events per second until they are added up, with the journal that is written then, or without it. */
async function rateAndAddUp(bench: Bench, db: pg.Client, of: Rated, hasJournal: boolean) {
  const change = hasJournal ? 'enable' : 'disable';
  await db.query(`alter table usage_change ${change} trigger journal`);
  try {
    return await rate(bench, db, of, { accounts: accountCount, until: 'added up' });
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
  await bench.product.ask({ do: 'startWorkers' });
  const of = (tenant: Rated, accounts: number) => () =>
    rate(bench, db, tenant, { accounts, until: 'rated' });
  const journal = (hasJournal: boolean) => () => rateAndAddUp(bench, db, plain, hasJournal);
  // The first ones fill caches.
  for (const warmUp of [of(plain, accountCount), of(paid, accountCount)]) await warmUp();
  const all = await inTurn(rounds, of(paid, accountCount), of(plain, accountCount));
  const one = await inTurn(rounds, of(paid, 1), of(plain, accountCount));
  const booked = await inTurn(rounds, journal(true), journal(false));
  await bench.product.ask({ do: 'stopWorkers' });
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
      '/s rating of 100 accounts without',
      'events/s from a filled log, all of one account, each paid by its grant',
    ),
    rowOf(
      'rate (with the journal)',
      booked,
      0.95,
      '/s the same without the journal',
      'events/s from a filled log until they are added up and booked in the journal',
    ),
  ];
}
