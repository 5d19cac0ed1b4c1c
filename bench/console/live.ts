import { UsageMaker } from '../fixture.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { fillConsole, shownWorkflow } from './fill.js';
import { budgetRow, mostOf, presses, withVisit, type Visit } from './shown.js';

const budget = { shownMs: 1_000, toldMs: 500 };

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

/** In the page: the instant at which it says all of these. */
const shownAt = (...texts: readonly string[]): string => `new Promise((resolve) => {
  const look = () => ${JSON.stringify(texts)}.every((text) => document.body.innerText.includes(text))
    ? resolve(Date.now())
    : requestAnimationFrame(look);
  look();
})`;

/**
 * From the answer to an event until a stream tells of it and until the usage page shows it, rating
 * included (spec/beyond.md R420, R423). The next one is sent at once, so that the page has just read.
 */
async function measureUsage(visit: Visit, bench: Bench): Promise<BenchRow[]> {
  const { client } = bench;
  await visit.page.goto(`${visit.url}/console/usage`);
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
    const text = `${all} events were accepted in all.`;
    times.shown.push(Number(await visit.page.evaluate(shownAt(text))) - since);
    times.told.push((stream.told[0] ?? NaN) - since);
  }
  stream.close();
  return [
    budgetRow(
      'told',
      mostOf(times.told),
      'ms',
      budget.toldMs,
      'until a stream tells of an event, 95 %',
    ),
    budgetRow(
      'live',
      mostOf(times.shown),
      'ms',
      budget.shownMs,
      'until the page shows an event, 95 %',
    ),
  ];
}

/** A list of what is executed, and what adds to it. */
interface Growing {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly table: string;
  readonly list: string;
  readonly workflowId: string;
  readonly data: object;
  readonly measure: string;
}

const growing = ({ accounts }: Bench): readonly Growing[] => [
  {
    id: 'live, executions',
    path: `workflows/${shownWorkflow}`,
    title: shownWorkflow,
    table: 'Executions, the latest first',
    list: `/v1/workflows/${shownWorkflow}/executions?limit=1`,
    workflowId: shownWorkflow,
    data: {},
    measure: 'until the page shows an execution that has ended, 95 %',
  },
  {
    id: 'live, runs',
    path: 'billing',
    title: 'Billing',
    table: 'Billing runs, the latest first',
    list: '/v1/billing-runs?limit=1',
    workflowId: 'billing-run',
    data: {
      periodStart: '2026-10-01',
      periodEnd: '2026-10-31',
      accountId: accounts[0],
      dryRun: true,
    },
    measure: 'until the page shows a billing run that has ended, 95 %',
  },
];

/** From the answer to an execution, which has ended, until the list shows that it has. */
async function measureExecuted(visit: Visit, { client }: Bench, of: Growing): Promise<BenchRow> {
  await visit.page.goto(`${visit.url}/console/${of.path}`);
  await visit.arrive(of.title);
  await visit.find('table', of.table);
  const { pagination } = await client.send<{ pagination: { total: number } }>('GET', of.list);
  const times: number[] = [];
  for (let count = 1; count <= presses; count += 1) {
    const { data } = of;
    await client.send('POST', `/v1/workflows/${of.workflowId}/execute`, { data });
    const since = Date.now();
    const all = ` of ${(pagination.total + count).toLocaleString('en')}`;
    // All others have ended.
    const isShown = `${shownAt(all)}.then(() => ${endedAt(of.table)})`;
    times.push(Number(await visit.page.evaluate(isShown)) - since);
  }
  return budgetRow(of.id, mostOf(times), 'ms', budget.shownMs, of.measure);
}

/** In the page: the instant at which no row of a table runs. */
const endedAt = (caption: string): string => `new Promise((resolve) => {
  const rows = () => [...document.querySelectorAll('main table')]
    .find(({ caption }) => caption?.textContent === ${JSON.stringify(caption)})?.tBodies[0];
  const look = () => rows()?.innerText.includes('running') === false
    ? resolve(Date.now())
    : requestAnimationFrame(look);
  look();
})`;

/** How soon a page shows what others do: usage, executions and billing runs. */
export async function measureLive(bench: Bench): Promise<BenchRow[]> {
  await fillConsole(bench);
  await bench.product.ask({ do: 'startWorkers' });
  return withVisit(bench, async (visit) => {
    bench.tell('console: live');
    const rows = await measureUsage(visit, bench);
    for (const of of growing(bench)) {
      bench.tell(`console: ${of.id}`);
      rows.push(await measureExecuted(visit, bench, of));
    }
    return rows;
  });
}
