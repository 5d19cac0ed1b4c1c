import { setTimeout as wait } from 'node:timers/promises';
import { UsageMaker } from '../fixture.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { fillConsole } from './fill.js';
import { withVisit, type Visit } from './shown.js';

/** How much usage comes at once. */
const events = 50;
/** Timers of the page go so much faster, so that it reads all the time. */
const hurry = 3_000;
/** What a page reads again in an hour in which an event comes every second. */
const updates = 3_600;
/** As many before: what is made once, and what browsers keep of the last requests alone. */
const updatesBefore = 600;
/** After how many of them it is told how many there were. */
const toldEvery = 300;
/** What a page may hold more after that than before. */
const growthMax = 1.2;

/** What a page holds in memory once nothing is left to collect, in MB. */
async function heapOf({ page }: Visit): Promise<number> {
  const session = await page.createCDPSession();
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}

/** Lets usage arrive until the page has read its totals so often. */
async function live(visit: Visit, { client, services, accounts, tell }: Bench, reads: number) {
  const maker = new UsageMaker(`live-${Date.now()}`, services, accounts.length);
  visit.requested.splice(0);
  let told = 0;
  for (;;) {
    const done = visit.requested.filter((one) => one.includes('/v1/usage?')).length;
    if (done >= reads) return;
    if (done >= told + toldEvery) {
      told = done;
      tell(`console: memory: ${done} of ${reads} updates`);
    }
    const batch = Array.from({ length: events }, () => maker.next());
    await client.send('POST', '/v1/ingest/usage/batch', batch);
    await wait(200);
  }
}

/**
 * What the usage page holds after an hour of live usage: as many updates as an hour of an event a second
 * makes, in minutes, since its timers are hurried.
 */
async function measureHour(visit: Visit, bench: Bench): Promise<BenchRow[]> {
  const { product, tenantId } = bench;
  await product.ask({ do: 'startWorkers' });
  // Nobody asks a thousand times a minute in earnest.
  await product.ask({ do: 'allowRequests', tenantId });
  await visit.page.evaluateOnNewDocument(`
    for (const name of ['setTimeout', 'setInterval']) {
      const real = window[name];
      window[name] = (work, ms = 0, ...given) => real(work, ms / ${hurry}, ...given);
    }
  `);
  await visit.page.goto(`${visit.url}/console/usage?from=2026-10-01&to=2026-11-01`);
  await visit.arrive('Usage');
  await live(visit, bench, updatesBefore);
  await visit.find('table', 'Totals in USD');
  const before = await heapOf(visit);
  await live(visit, bench, updates);
  const value = await heapOf(visit);
  return [
    {
      id: 'console (memory)',
      measure: `heap of the usage page after ${updates} live updates, an hour of an event a second`,
      value,
      unit: 'MB',
      floor: 'MB before',
      floorValue: before,
      ratio: value / before,
      aim: `<= ${growthMax}`,
      isReached: value / before <= growthMax,
    },
  ];
}

/** What a page that is open for long holds in memory. */
export async function measureMemory(bench: Bench): Promise<BenchRow[]> {
  bench.tell('console: memory');
  await fillConsole(bench);
  return withVisit(bench, (visit) => measureHour(visit, bench));
}
