import pg from 'pg';
import { UsageMaker, type BenchClient } from './fixture.js';
import { inTurn, measureLoad, median } from './load.js';
import type { BenchProcess } from './processes.js';
import type { BenchRow } from './result.js';

/** What the measurements share. */
export interface Bench {
  readonly databaseUrl: string;
  readonly tenantId: string;
  readonly client: BenchClient;
  readonly product: BenchProcess;
  readonly floorUrl: string;
  readonly accounts: readonly string[];
  readonly services: readonly string[];
  readonly tell: (text: string) => void;
  /** Starts another product beside it, on the same Temporal server. */
  openProduct(setup: object): Promise<BenchProcess>;
}

const rounds = 3;
const seconds = 5;
const external = '/api/v1/external';

/** Reads by id, and pages of 20, against bare Koa and node-postgres with the same statements. */
export async function measureRead(bench: Bench): Promise<BenchRow[]> {
  const { client, floorUrl, accounts } = bench;
  const { token } = client;
  const load = (url: string) => measureLoad({ url, token, connections: 16, seconds });
  const one = accounts[0] ?? '';
  const pairs = [
    ['read (by id)', `${external}/accounts/${one}`, `/accounts/${one}`],
    ['read (page of 20)', `${external}/accounts`, '/accounts'],
  ] as const;
  const rows: BenchRow[] = [];
  for (const [id, path, floorPath] of pairs) {
    const { a, b, ratio } = await inTurn(
      rounds,
      () => load(`${client.url}${path}`),
      () => load(`${floorUrl}${floorPath}`),
    );
    rows.push({
      id,
      value: a,
      floorValue: b,
      ratio,
      unit: '/s',
      aim: '>= 0.6',
      isReached: ratio >= 0.6,
      measure: 'GET per second, 16 connections',
      floor: '/s bare Koa + pg',
    });
  }
  return rows;
}

let ingestPerSecond = NaN;

/** Single events, against a bare Koa app that checks the same token and parses the same body. */
export async function measureIngest(bench: Bench): Promise<BenchRow[]> {
  const { client, floorUrl, services, accounts } = bench;
  const maker = new UsageMaker(`ingest-${Date.now()}`, services, accounts.length);
  const body = () => JSON.stringify(maker.next());
  const load = (url: string) =>
    measureLoad({ url, token: client.token, connections: 64, seconds, method: 'POST', body });
  const { a, b, ratio } = await inTurn(
    rounds,
    () => load(`${client.url}/v1/ingest/usage`),
    () => load(`${floorUrl}/ingest`),
  );
  ingestPerSecond = a;
  return [
    {
      id: 'ingest',
      value: a,
      floorValue: b,
      ratio,
      unit: '/s',
      aim: '>= 0.5',
      measure: 'accepted POST /v1/ingest/usage per second, 64 connections',
      floor: '/s bare Koa, token and body',
      isReached: ratio >= 0.5,
    },
  ];
}

const eventsPerBatch = 500;

/** Events per second through the batch endpoint, against single events. */
export async function measureBatch(bench: Bench): Promise<BenchRow[]> {
  const { client, services, accounts } = bench;
  const maker = new UsageMaker(`batch-${Date.now()}`, services, accounts.length);
  const body = () => JSON.stringify(Array.from({ length: eventsPerBatch }, () => maker.next()));
  const url = `${client.url}/v1/ingest/usage/batch`;
  const requests = await measureLoad({
    url,
    token: client.token,
    connections: 4,
    seconds,
    method: 'POST',
    body,
  });
  const value = requests * eventsPerBatch;
  const ratio = value / ingestPerSecond;
  return [
    {
      id: 'batch',
      value,
      floorValue: ingestPerSecond,
      ratio,
      unit: '/s',
      aim: '>= 10',
      measure: `events per second through POST /v1/ingest/usage/batch, ${eventsPerBatch} a request`,
      floor: '/s ingest above',
      isReached: ratio >= 10,
    },
  ];
}

const freshSamples = 200;

/** Milliseconds from sending one event until its rated transaction can be read, when idle. */
async function freshTimes(bench: Bench): Promise<number[]> {
  const { client, services, accounts } = bench;
  const maker = new UsageMaker(`fresh-${Date.now()}`, services, accounts.length);
  const db = new pg.Client({ connectionString: bench.databaseUrl });
  await db.connect();
  const times: number[] = [];
  for (let index = 0; index < freshSamples; index += 1) {
    const event = maker.next();
    const since = performance.now();
    await client.send('POST', '/v1/ingest/usage', event);
    for (;;) {
      const { rows } = await db.query(
        `select 1 from usage_identity
         where tenant_id = $1 and external_id = $2`,
        [bench.tenantId, event.key],
      );
      if (rows.length > 0) break;
    }
    times.push(performance.now() - since);
  }
  await db.end();
  return times;
}

/** From ingestion to rated, against a workflow that does nothing. */
export async function measureFresh(bench: Bench): Promise<BenchRow[]> {
  await bench.product.ask({ do: 'startWorkers' });
  const { p50: floorValue } = await bench.product.ask<{ p50: number }>({
    do: 'emptyWorkflow',
    count: freshSamples,
    callers: 1,
  });
  const value = median(await freshTimes(bench));
  const ratio = value / floorValue;
  return [
    {
      id: 'fresh',
      value,
      floorValue,
      ratio,
      unit: 'ms',
      aim: '<= 4',
      measure: 'p50 from ingest to rated, idle',
      floor: 'ms eager empty workflow',
      isReached: ratio <= 4,
    },
  ];
}
