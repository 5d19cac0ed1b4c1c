import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { MoveProgress } from '../src/messages/cells/tenant-move.js';
import { fillTenant } from '../test/support/servers/fill.js';
import { openCell, openSide, otherCell, services } from './cells.js';
import type { BenchTenant, Side } from './cells.js';
import { drain } from './rate.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

const movedEvents = Number(process.env['BENCH_MOVED_EVENTS'] ?? 1_000_000);
const eventsPerSecond = 500;
/** What the answer to a tenant that is being moved says. */
const retryAfterMs = 1_000;
const moveMaxSeconds = 300;
const pauseMaxMs = 1_000;

const secondsSince = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);

async function countEvents(db: pg.Client, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from usage_event where tenant_id = $1 and status = 'rated'`,
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

/** A row that is held to a limit instead of a floor. */
const limitRow = (id: string, value: number, unit: string, max: number) => ({
  id,
  value,
  floorValue: max,
  ratio: value / max,
  unit,
  aim: `< ${max} ${unit}`,
  isReached: value < max,
  floor: `${unit} may be`,
});

interface Streamed {
  readonly confirmed: number;
  readonly perSecond: number;
}

/** Sends so many events a second until it is stopped; how many were confirmed. */
function stream({ client, maker }: BenchTenant): () => Promise<Streamed> {
  let isStopped = false;
  let confirmed = 0;
  const isConfirmed = (body: object): Promise<boolean> =>
    client.send('POST', '/v1/ingest/usage', body).then(
      () => true,
      () => false,
    );
  /** Refused while the tenant is moved: sent again when `Retry-After` says so. */
  const until = async (body: object): Promise<void> => {
    while (!(await isConfirmed(body))) await wait(retryAfterMs);
    confirmed += 1;
  };
  const begun = performance.now();
  const running = (async () => {
    const under = new Set<Promise<void>>();
    for (let sent = 0; !isStopped; sent += 1) {
      const dueMs = (sent * 1_000) / eventsPerSecond - (performance.now() - begun);
      if (dueMs > 0) await wait(dueMs);
      const sending = until(maker.next()).finally(() => under.delete(sending));
      under.add(sending);
    }
    await Promise.all(under);
  })();
  return async () => {
    isStopped = true;
    await running;
    return { confirmed, perSecond: confirmed / ((performance.now() - begun) / 1_000) };
  };
}

/** Moves a tenant of many events to the other cell while it streams. */
async function moveTenant(
  bench: Bench,
  { product, tenants, openAtHome }: Side,
): Promise<BenchRow[]> {
  const mover = await openAtHome('moved');
  const there = tenants[1]?.db;
  if (there === undefined) throw new Error('There is no cell to move to.');
  const { id: tenantId } = mover;
  bench.tell(`filling ${tenantId} with ${movedEvents} rated events`);
  await fillTenant(mover.db, { tenantId, accounts: 1_000, events: movedEvents, services });
  await mover.db.query('vacuum analyze');
  const stop = stream(mover);
  await wait(2_000);
  bench.tell('moving it while it streams');
  const since = performance.now();
  await product.ask({ do: 'move', tenantId, to: otherCell });
  let progress: MoveProgress | undefined;
  while (progress?.phase !== 'moved' && progress?.phase !== 'removed') {
    await wait(200);
    const now = await product.ask<MoveProgress>({ do: 'moveProgress', tenantId });
    if (now.phase !== progress?.phase) bench.tell(`${now.phase} after ${secondsSince(since)} s`);
    progress = now;
  }
  const seconds = (performance.now() - since) / 1_000;
  const { confirmed, perSecond } = await stop();
  await drain(there);
  const lost = movedEvents + confirmed - (await countEvents(there, tenantId));
  if (lost !== 0) throw new Error(`${lost} events of ${movedEvents + confirmed} are missing`);
  bench.tell(`${confirmed} events were confirmed meanwhile, and all are rated there`);
  await mover.db.end();
  const row = { transactions: movedEvents };
  const sends = `sends ${Math.round(perSecond)} events/s`;
  return [
    {
      ...row,
      ...limitRow('cells (move)', seconds, 's', moveMaxSeconds),
      measure: `seconds until another cell serves a tenant of ${movedEvents} events that ${sends}`,
    },
    {
      ...row,
      ...limitRow('cells (pause)', progress.pauseMs ?? NaN, 'ms', pauseMaxMs),
      measure: 'for which that move lets the tenant wait',
    },
  ];
}

/** How a tenant gets from one cell to another while it is used. */
export async function measureMove(bench: Bench): Promise<BenchRow[]> {
  const { homeUrl, cellUrl, close } = await openCell(bench);
  const side = await openSide(bench, 'move', homeUrl, cellUrl);
  try {
    return await moveTenant(bench, side);
  } finally {
    await side.close();
    await close();
  }
}
