import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import type { Browser } from 'puppeteer-core';
import { fillPrices } from '../test/support/servers/fill.js';
import { openBrowser } from '../test/support/servers/browser.js';
import {
  buildConsole,
  signIn,
  visitConsole,
  type ConsoleVisit,
} from '../test/support/servers/console.js';
import { median } from './load.js';
import { UsageMaker } from './fixture.js';
import type { BenchRow } from './result.js';
import type { Bench } from './rows.js';

/** The budget of the console: of bytes it is spec/beyond.md R371. */
const budget = { kilobytes: 180, paintMs: 1_000, listMs: 100, liveMs: 1_000, toldMs: 500 };
const paints = 7;
const presses = 20;
/** For how long a page is open while usage arrives, and how much of it comes at once. */
const liveSeconds = 60;
const liveEvents = 50;
/** An hour in little time: timers of that page go so much faster, so that it reads all the time. */
const hurry = 600;
/** What a page reads in an hour at most: twice a second, totals and outcomes. */
const readsOfHour = 14_400;
/** What a page may hold more after that than before. */
const growthMax = 1.2;

/** Lists by where they are, their titles, and the tables that they show. */
const lists = [
  ['accounts', 'Accounts', 'Accounts'],
  ['prices', 'Prices', 'Services'],
  ['usage/events', 'Usage events', 'Events, the newest first'],
  ['audit', 'Audit', 'Changes, the newest first'],
] as const;

/** Does something; the milliseconds until what is watched is shown otherwise. */
const timed = (watched: string, act: string): string => `new Promise((resolve) => {
  const shown = () => document.querySelector(${JSON.stringify(watched)})?.innerHTML;
  const before = shown();
  const since = performance.now();
  const observer = new MutationObserver(() => {
    const now = shown();
    if (now === undefined || now === before) return;
    observer.disconnect();
    // When it is painted, and not only there.
    requestAnimationFrame(() => resolve(performance.now() - since));
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  ${act}
})`;

const pressed = timed('main tbody', 'document.activeElement.click();');

/** Draws the chart of usage of other days, which the page has not read yet. */
const drawnFrom = (day: string): string =>
  timed(
    'main figure [role=slider] svg',
    `const from = document.querySelector('input[name=from]');
    from.value = '${day}';
    from.form.requestSubmit();`,
  );

/** The milliseconds that nineteen of twenty are below. */
const mostOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? NaN;

const row = (id: string, value: number, unit: string, most: number, measure: string): BenchRow => ({
  id: `console (${id})`,
  measure,
  value,
  unit,
  floor: `${unit} budget`,
  floorValue: most,
  ratio: value / most,
  aim: '<= 1',
  isReached: value <= most,
});

async function measurePaint(visit: ConsoleVisit, url: string): Promise<BenchRow[]> {
  const { page } = visit;
  await page.setCacheEnabled(false);
  const times: number[] = [];
  for (let count = 0; count < paints; count += 1) {
    visit.requested.splice(0);
    await page.goto(`${url}/console/accounts`);
    await visit.find('table', 'Accounts');
    times.push(
      Number(
        await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`),
      ),
    );
  }
  await page.setCacheEnabled(true);
  const files = [...new Set(visit.requested.filter((one) => one.includes('/console/assets/')))];
  let bytes = 0;
  for (const file of files) {
    bytes += gzipSync(Buffer.from(await (await fetch(file)).arrayBuffer())).length;
  }
  return [
    row('bytes', bytes / 1_000, 'KB', budget.kilobytes, 'files of the first page, compressed'),
    row('first paint', median(times), 'ms', budget.paintMs, 'without what the browser has kept'),
  ];
}

async function measureList(
  visit: ConsoleVisit,
  url: string,
  [path, title, table]: (typeof lists)[number],
): Promise<BenchRow> {
  await visit.page.goto(`${url}/console/${path}`);
  await visit.arrive(title);
  await visit.find('table', table);
  // Not by the tab key: rows of some lists are links, and there are many.
  await (await visit.page.waitForSelector('::-p-aria([name="Next"][role="button"])'))?.focus();
  const times: number[] = [];
  for (let count = 0; count < presses; count += 1) {
    times.push(Number(await visit.page.evaluate(pressed)));
    await wait(100);
  }
  return row(path, mostOf(times), 'ms', budget.listMs, 'from a key press to the next page, 95 %');
}

/** What rating would have left for the totals of the tenant that is filled. */
async function makeTotals({ databaseUrl, tenantId, product, services }: Bench): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await fillPrices(db, { tenantId, services: services.length });
  await db.query('insert into usage_total_rebuild (tenant_id) values ($1)', [tenantId]);
  await product.ask({ do: 'startWorkers' });
  const left = 'select from usage_total_rebuild where tenant_id = $1';
  while ((await db.query(left, [tenantId])).rowCount !== 0) await wait(100);
  await product.ask({ do: 'stopWorkers' });
  await db.query('vacuum analyze');
  await db.end();
}

/** The chart of all usage of the month that `fillTenant` fills. */
async function measureChart(visit: ConsoleVisit, url: string): Promise<BenchRow> {
  await visit.page.goto(`${url}/console/usage?from=2026-10-01&to=2026-11-01&bucket=day`);
  await visit.arrive('Usage');
  await visit.find('table', 'Totals in USD');
  const times: number[] = [];
  for (let count = 0; count < presses; count += 1) {
    const day = String(2 + count).padStart(2, '0');
    times.push(Number(await visit.page.evaluate(drawnFrom(`2026-10-${day}`))));
    await wait(100);
  }
  return row('usage', mostOf(times), 'ms', budget.listMs, 'until other days are drawn, 95 %');
}

/** The instants at which a stream tells of usage. */
async function openStream({ client }: Bench): Promise<{ told: number[]; close(): void }> {
  const abort = new AbortController();
  const { body } = await fetch(`${client.url}/v1/changes?seconds=600`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: abort.signal,
  });
  const told: number[] = [];
  const hear = async (): Promise<void> => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (text.includes('"usage":true')) told.push(Date.now());
    }
  };
  void hear().catch(() => undefined);
  return { told, close: () => abort.abort() };
}

/** The instant at which a page says something. */
const shownAt = (text: string): string => `new Promise((resolve) => {
  const look = () => document.body.innerText.includes(${JSON.stringify(text)})
    ? resolve(Date.now())
    : requestAnimationFrame(look);
  look();
})`;

/**
 * From the answer to an event until a stream tells of it and until the usage page shows it, rating
 * included (spec/beyond.md R420, R423). The next one is sent at once, so that the page has just read.
 */
async function measureLive(visit: ConsoleVisit, bench: Bench, url: string): Promise<BenchRow[]> {
  const { client, product } = bench;
  await product.ask({ do: 'startWorkers' });
  await visit.page.goto(`${url}/console/usage`);
  await visit.arrive('Usage');
  const stream = await openStream(bench);
  const maker = new UsageMaker(`shown-${Date.now()}`, bench.services, bench.accounts.length);
  const { accepted } = await client.send<{ accepted: number }>('GET', '/v1/usage-events/summary');
  const times: { readonly told: number[]; readonly shown: number[] } = { told: [], shown: [] };
  for (let count = 1; count <= presses; count += 1) {
    const { message } = maker.next();
    const all = (accepted + count).toLocaleString('en');
    stream.told.splice(0);
    await client.send('POST', '/v1/ingest/usage', { message });
    const since = Date.now();
    times.shown.push(
      Number(await visit.page.evaluate(shownAt(`${all} events were accepted in all.`))) - since,
    );
    times.told.push((stream.told[0] ?? NaN) - since);
  }
  stream.close();
  return [
    row('told', mostOf(times.told), 'ms', budget.toldMs, 'until a stream tells of an event, 95 %'),
    row('live', mostOf(times.shown), 'ms', budget.liveMs, 'until the page shows an event, 95 %'),
  ];
}

/** What a page holds in memory once nothing is left to collect, in MB. */
async function heapOf({ page }: ConsoleVisit): Promise<number> {
  const session = await page.createCDPSession();
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1_000_000;
}

/**
 * What the usage page holds after an hour of live usage: what is left of a thousand reads or so, as many
 * as its hurried timers make in a minute, for as many as there are in an hour.
 */
async function measureMemory(visit: ConsoleVisit, bench: Bench, url: string): Promise<BenchRow> {
  const { product, client, tenantId } = bench;
  // Nobody asks a thousand times a minute in earnest.
  await product.ask({ do: 'allowRequests', tenantId });
  await visit.page.evaluateOnNewDocument(`
    for (const name of ['setTimeout', 'setInterval']) {
      const real = window[name];
      window[name] = (work, ms = 0, ...given) => real(work, ms / ${hurry}, ...given);
    }
  `);
  await visit.page.goto(`${url}/console/usage?from=2026-10-01&to=2026-11-01`);
  await visit.arrive('Usage');
  const live = async (seconds: number): Promise<void> => {
    const maker = new UsageMaker(`live-${Date.now()}`, bench.services, bench.accounts.length);
    const until = performance.now() + seconds * 1_000;
    while (performance.now() < until) {
      const events = Array.from({ length: liveEvents }, () => maker.next());
      await client.send('POST', '/v1/ingest/usage/batch', events);
      await wait(200);
    }
  };
  // What is made once, and what browsers keep of the last requests alone, such as their times.
  await live(30);
  await visit.find('table', 'Totals in USD');
  const before = await heapOf(visit);
  visit.requested.splice(0);
  await live(liveSeconds);
  const after = await heapOf(visit);
  const reads = visit.requested.filter((one) => one.includes('/v1/usage')).length;
  const value = before + ((after - before) / reads) * readsOfHour;
  return {
    id: 'console (memory)',
    measure: `heap after an hour of live usage, by what ${reads} reads left`,
    value,
    unit: 'MB',
    floor: 'MB before',
    floorValue: before,
    ratio: value / before,
    aim: `<= ${growthMax}`,
    isReached: value / before <= growthMax,
  };
}

async function visitBench(browser: Browser, bench: Bench): Promise<BenchRow[]> {
  const { token } = bench.client;
  // The address that the instance tells of itself: signing in comes back to it.
  const url = bench.client.url.replace('127.0.0.1', 'localhost');
  const visit = await visitConsole(browser, { url });
  await signIn(visit, { url }, token);
  await visit.arrive('Accounts');
  const rows = await measurePaint(visit, url);
  for (const list of lists) {
    bench.tell(`console: ${list[0]}`);
    rows.push(await measureList(visit, url, list));
  }
  bench.tell('console: usage');
  await makeTotals(bench);
  rows.push(await measureChart(visit, url));
  bench.tell('console: live');
  rows.push(...(await measureLive(visit, bench, url)));
  bench.tell('console: memory');
  rows.push(await measureMemory(visit, bench, url));
  await visit.close();
  return rows;
}

/** The console in a browser, against its budget: bytes, first paint, and the time of each list. */
export async function measureConsole(bench: Bench): Promise<BenchRow[]> {
  await buildConsole();
  const browser = await openBrowser();
  try {
    return await visitBench(browser, bench);
  } finally {
    await browser.close();
  }
}
