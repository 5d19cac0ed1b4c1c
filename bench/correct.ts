import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { accountRef, createAccounts, createServices, openTenant } from './fixture.js';
import type { BenchClient } from './fixture.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const tenantId = 'bench-correct';
const events = Number(process.env['BENCH_CORRECT_EVENTS'] ?? 100_000);
/** Charges of the account whose first event is canceled, and which is billed next. */
const ownEvents = 10_001;
const accountCount = 10;
const batchMax = 1_000;
const rounds = 5;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

const middle = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

async function send(
  client: BenchClient,
  count: number,
  of: (index: number) => object,
): Promise<void> {
  for (let from = 0; from < count; from += batchMax) {
    const size = Math.min(batchMax, count - from);
    const body = Array.from({ length: size }, (_each, index) => ({ message: of(from + index) }));
    await client.send('POST', '/v1/ingest/usage/batch', body);
  }
}

async function untilRated(client: BenchClient): Promise<void> {
  for (;;) {
    const answer: unknown = await client.send('GET', '/v1/usage-events/summary');
    if ((answer as { pending: number }).pending === 0) return;
    await wait(20);
  }
}

interface Ended {
  readonly status: string;
  readonly output: { readonly events: number; readonly changed: number };
}

/** Rates a range again and waits for the end; the events that were considered. */
async function rerate(client: BenchClient, db: pg.Client, data: object): Promise<number> {
  const answer: unknown = await client.send('POST', '/v1/workflows/rerate-usage/execute', {
    data: { ...data, reason: 'A measurement.', dryRun: true },
    async: true,
  });
  const { executionId } = answer as { executionId: string };
  for (;;) {
    // The API would count so many questions.
    const { rows } = await db.query<Ended>(
      'select status, output from execution where tenant_id = $1 and id = $2',
      [tenantId, executionId],
    );
    const [now] = rows;
    if (now === undefined || now.status === 'running') {
      await wait(50);
      continue;
    }
    if (now.status !== 'completed' || now.output.changed !== 0) {
      throw new Error(`rerate-usage is ${now.status}: ${JSON.stringify(now.output)}`);
    }
    return now.output.events;
  }
}

/** Re-rating without differences against live rating, a cancel with its ripples, the next invoice. */
export async function measureCorrect(bench: Bench): Promise<BenchRow[]> {
  const { product, tell } = bench;
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  const client = await openTenant(bench, tenantId);
  const accounts = await createAccounts(client, accountCount);
  const [serviceId = ''] = await createServices(client, 1);
  const month = new Date().toISOString().slice(0, 7);
  const message = (index: number, account: number) => ({
    externalTransactionId: `correct-${account}-${index}`,
    serviceId,
    billingAccountRef: accountRef(account),
    eventTimestamp: `${month}-01T00:00:00Z`,
    dimensions: { api_calls: String((index % 7) + 1) },
  });
  tell(`sending ${events} events`);
  await send(client, events, (index) => message(index, 1 + (index % (accountCount - 1))));
  const liveMs = await timed(async () => {
    await product.ask({ do: 'startWorkers' });
    await untilRated(client);
  });
  const next = new Date(`${month}-28T00:00:00Z`).toISOString().slice(0, 10);
  const range = { from: `${month}-01`, to: next };
  let again = 0;
  const againMs = await timed(async () => {
    again = await rerate(client, db, range);
  });
  if (again !== events) throw new Error(`${again} of ${events} events were rated again.`);
  const [value, floorValue] = [(again / againMs) * 1000, (events / liveMs) * 1000];
  await send(client, ownEvents, (index) => message(index, 0));
  await untilRated(client);
  const cancelMs = await timed(() =>
    client.send('POST', '/v1/usage-events/correct-0-0/cancel', { reason: 'A measurement.' }),
  );
  const invoices: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    invoices.push(
      await timed(() => client.send('GET', `/v1/accounts/${accounts[0]}/next-invoice`)),
    );
  }
  await db.end();
  const invoiceMs = middle(invoices);
  return [
    {
      id: 'rerate',
      value,
      floorValue,
      ratio: value / floorValue,
      unit: '/s',
      aim: '>= 3',
      isReached: value / floorValue >= 3,
      transactions: events,
      measure: `events/s that are rated again without differences, of ${events} metered ones`,
      floor: '/s live rating of the same events from a filled log',
    },
    {
      id: 'cancel',
      value: cancelMs,
      floorValue: 2_000,
      ratio: cancelMs / 2_000,
      unit: 'ms',
      aim: '< 1',
      isReached: cancelMs < 2_000,
      transactions: ownEvents,
      measure: 'cancel of the first event of a counter with 10,000 later charges',
      floor: 'ms, the aim itself',
    },
    {
      id: 'next invoice',
      value: invoiceMs,
      floorValue: 300,
      ratio: invoiceMs / 300,
      unit: 'ms',
      aim: '< 1',
      isReached: invoiceMs < 300,
      transactions: ownEvents,
      measure: `next invoice of an account with 10,000 charges, median of ${rounds}`,
      floor: 'ms, the aim itself',
    },
  ];
}
