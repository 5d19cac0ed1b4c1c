import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { median } from '../load.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { fillConsole, shownWorkflow, type Filled } from './fill.js';
import {
  budgetRow,
  failedRow,
  mostOf,
  tableOf,
  timed,
  timesOf,
  withVisit,
  type Visit,
} from './shown.js';

/** The budget of the console: of bytes it is spec/beyond.md R371. */
const budget = { kilobytes: 180, paintMs: 1_000, listMs: 100 };
const paints = 7;

/** A list with pages: where it is, and the caption of its table. */
type List = readonly [id: string, path: string, caption: string];

export const listsOf = (filled: Filled): readonly List[] => [
  ['accounts', 'accounts', 'Accounts'],
  ['prices', 'prices', 'Services'],
  ['usage/events', 'usage/events', 'Events, the last received first'],
  ['audit', 'audit', 'Changes, the newest first'],
  ['rejected events', 'usage/events?status=rejected', 'Events, the last received first'],
  ['invoices', 'invoices', 'Invoices, the latest first'],
  [
    'usage of an item',
    `invoices/${filled.invoiceId}/items/${filled.itemId}`,
    'Usage; each event leads to its receipt',
  ],
  ['billing runs', 'billing', 'Billing runs, the latest first'],
  ['corrections', 'usage/corrections', 'Corrections, the newest first'],
  ['approvals', 'approvals?status=approved', 'Approvals, the newest first'],
  ['executions', `workflows/${shownWorkflow}`, 'Executions, the latest first'],
  ['deliveries', `webhooks/${filled.webhookId}`, 'Deliveries, the latest first'],
  ['tried accounts', `prices/tried/${filled.repricingId}`, 'What accounts would pay'],
  ['access keys', 'access-keys', 'Access keys, the latest first'],
];

/** What is there at once when its page is: from which page a link leads there, and what is shown. */
interface Opened {
  readonly id: string;
  readonly from: string;
  /** Its address in the console. */
  readonly to: string;
  /** In the page: what shows it. */
  readonly shown: string;
}

export const openedOf = ({ serviceId }: Filled, { services }: Bench): readonly Opened[] => [
  {
    id: 'rejections by reason',
    from: 'usage',
    to: 'usage/events?status=rejected',
    shown: tableOf('Rejected events by reason'),
  },
  {
    id: 'schedules',
    from: 'accounts',
    to: 'billing',
    shown: `[...document.querySelectorAll('main section')].find(
      ({ ariaLabel }) => ariaLabel === 'Billing')`,
  },
  {
    id: 'card versions',
    from: `prices?q=service-${services.length - 1}`,
    to: `prices/${serviceId}`,
    shown: tableOf('Versions in USD, the newest first'),
  },
  {
    id: 'trials',
    from: 'accounts',
    to: 'prices',
    shown: tableOf('Prices that were tried, the newest first'),
  },
  {
    id: 'operations',
    from: 'accounts',
    to: 'operations',
    shown: tableOf('Parts of this instance'),
  },
];

/** Usage over time: what the address says beside the days, and from and to when, by the sample. */
interface Drawn {
  readonly id: string;
  readonly search: string;
  readonly times: (count: number) => readonly [from: string, to: string];
}

const dayOf = (count: number): string => `2026-10-${String(1 + count).padStart(2, '0')}`;
const untilEnd = (count: number) => [dayOf(count + 1), '2026-11-01'] as const;
/** Of groups that are alike the drawing is, too: its words tell the times apart. */
const chart = `document.querySelector('main figure [role=slider]')`;
const totals = 'Totals in USD';

/** Of what nothing is kept: each event is read. */
const sixHours = (count: number) =>
  [`${dayOf(count)}T03:00:00Z`, `${dayOf(count)}T09:00:00Z`] as const;

export const drawn: readonly Drawn[] = [
  { id: 'usage', search: 'bucket=day', times: untilEnd },
  { id: 'usage by hour', search: 'bucket=hour', times: (at) => [dayOf(at), dayOf(at + 3)] },
  { id: 'usage by minute', search: 'bucket=minute', times: sixHours },
  { id: 'usage by attribute', search: 'bucket=day&groupBy=attribute', times: untilEnd },
  { id: 'usage by dimension', search: 'bucket=hour&dimension=region', times: sixHours },
  {
    id: 'usage by service',
    search: 'bucket=day&groupBy=service',
    times: (at) => [dayOf(at), dayOf(at + 1)],
  },
  {
    id: 'usage by account',
    search: 'bucket=day&groupBy=account',
    times: (at) => [dayOf(at), dayOf(at + 1)],
  },
];

async function measurePaint(visit: Visit): Promise<BenchRow[]> {
  const { page, requested, url } = visit;
  await page.setCacheEnabled(false);
  const times: number[] = [];
  for (let count = 0; count < paints; count += 1) {
    requested.splice(0);
    await page.goto(`${url}/console/accounts`);
    await visit.find('table', 'Accounts');
    times.push(
      Number(
        await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`),
      ),
    );
  }
  await page.setCacheEnabled(true);
  const files = [...new Set(requested.filter((one) => one.includes('/console/assets/')))];
  let bytes = 0;
  for (const file of files) {
    bytes += gzipSync(Buffer.from(await (await fetch(file)).arrayBuffer())).length;
  }
  return [
    budgetRow(
      'bytes',
      bytes / 1_000,
      'KB',
      budget.kilobytes,
      'files of the first page, compressed',
    ),
    budgetRow(
      'first paint',
      median(times),
      'ms',
      budget.paintMs,
      'without what the browser has kept',
    ),
  ];
}

async function measureList(visit: Visit, [id, path, caption]: List) {
  const { page, url } = visit;
  await page.goto(`${url}/console/${path}`);
  await visit.find('table', caption);
  // Not by the tab key: rows of some lists are links, and there are many.
  await (await page.waitForSelector('::-p-aria([name="Next"][role="button"])'))?.focus();
  const press = timed([tableOf(caption)], 'document.activeElement.click();');
  const times = await timesOf(() => page.evaluate(press));
  const measure = 'from a key press to the next page, 95 %';
  return budgetRow(id, mostOf(times), 'ms', budget.listMs, measure);
}

/** Opens a page by its link, again and again from one that has just been loaded. */
async function measureOpened(visit: Visit, { id, from, to, shown }: Opened) {
  const { page, url } = visit;
  const link = `main a[href="/console/${to}"], nav a[href="/console/${to}"]`;
  const times = await timesOf(async () => {
    await page.goto(`${url}/console/${from}`);
    // The focus loads the page's own file.
    await (await page.waitForSelector(link))?.focus();
    await visit.quiet();
    await wait(100);
    return page.evaluate(timed([shown], 'document.activeElement.click();'));
  });
  const measure = 'from a key press to what its page shows, 95 %';
  return budgetRow(id, mostOf(times), 'ms', budget.listMs, measure);
}

/** Draws the chart of usage of other times, which the page has not read yet. */
async function measureDrawn(visit: Visit, { id, search, times }: Drawn) {
  const { page, url } = visit;
  const [first, last] = times(25);
  await page.goto(`${url}/console/usage?from=${first}&to=${last}&${search}`);
  await visit.find('table', totals);
  await visit.quiet();
  // There is none of a single step whose rows are not all read.
  const isDrawn = await page.evaluate(`${chart} !== null`);
  const measured = await timesOf(async (count) => {
    const [from, to] = times(count);
    // Names of rows are still asked for.
    await visit.quiet();
    return page.evaluate(
      timed(
        isDrawn ? [chart, tableOf(totals)] : [tableOf(totals)],
        `const { form } = Object.assign(document.querySelector('input[name=from]'), { value: '${from}' });
        form.elements.to.value = '${to}';
        form.requestSubmit();`,
      ),
    );
  });
  const measure = 'until other times are drawn, 95 %';
  return budgetRow(id, mostOf(measured), 'ms', budget.listMs, measure);
}

/** Pages of the console against their budget: bytes, first paint, and the time of each list and chart. */
export async function measurePages(bench: Bench): Promise<BenchRow[]> {
  const filled = await fillConsole(bench);
  return withVisit(bench, async (visit) => {
    const rows = await measurePaint(visit);
    const add = async (id: string, measure: () => Promise<BenchRow>): Promise<void> => {
      bench.tell(`console: ${id}`);
      // The others are measured all the same.
      const row = await measure().catch((error: unknown) => {
        bench.tell(`console: ${id}: ${String(error)}`);
        return failedRow(id, error);
      });
      rows.push(row);
    };
    for (const list of listsOf(filled)) await add(list[0], () => measureList(visit, list));
    for (const opened of openedOf(filled, bench))
      await add(opened.id, () => measureOpened(visit, opened));
    for (const each of drawn) await add(each.id, () => measureDrawn(visit, each));
    return rows;
  });
}
