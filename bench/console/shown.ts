import { setTimeout as wait } from 'node:timers/promises';
import { openBrowser } from '../../test/support/servers/browser.js';
import {
  buildConsole,
  signIn,
  visitConsole,
  type ConsoleVisit,
} from '../../test/support/servers/console.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';

/** How often each thing is done. */
export const presses = 20;

/** After which the page will not show it any more: what it says then is the error. */
const shownMsMax = 20_000;

/** The milliseconds that nineteen of twenty are below. */
export const mostOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? NaN;

/** A row of the console: what was measured against the most that it may be. */
export const budgetRow = (
  id: string,
  value: number,
  unit: string,
  most: number,
  measure: string,
  floor = `${unit} budget`,
): BenchRow => ({
  id: `console (${id})`,
  measure,
  value,
  unit,
  floor,
  floorValue: most,
  ratio: value / most,
  aim: '<= 1',
  isReached: value <= most,
});

/** A row that could not be measured. */
export const failedRow = (id: string, error: unknown): BenchRow => ({
  ...budgetRow(id, NaN, '', NaN, ''),
  failure: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error),
});

/** In the page: the body of the table of this caption, or undefined. */
export const tableOf = (caption: string): string =>
  `[...document.querySelectorAll('main table')].find(
    ({ caption }) => caption?.textContent === ${JSON.stringify(caption)})?.tBodies[0]`;

/** In the page: does something; the milliseconds until all that is watched is there, or shown otherwise. */
export const timed = (
  watched: readonly string[],
  act: string,
): string => `new Promise((resolve, reject) => {
  setTimeout(
    () => reject(new Error('It is not shown:\\n' + document.body.innerText)),
    ${shownMsMax},
  );
  const shown = () => [${watched.join(', ')}].map((element) => element?.outerHTML);
  const before = shown();
  const since = performance.now();
  const observer = new MutationObserver(() => {
    if (shown().some((now, at) => now === undefined || now === before[at])) return;
    observer.disconnect();
    // When it is painted, and not only there.
    requestAnimationFrame(() => resolve(performance.now() - since));
  });
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  observer.observe(document.body, all);
  ${act}
})`;

/** Does it so often, with a moment in between; the milliseconds of each time. */
export async function timesOf(
  act: (count: number) => Promise<unknown>,
  most = presses,
): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < most; count += 1) {
    times.push(Number(await act(count)));
    await wait(100);
  }
  return times;
}

/** A page that somebody is signed in to. */
export interface Visit extends ConsoleVisit {
  readonly url: string;
}

/** Opens a browser of its own for a measurement, and the console in it. */
export async function withVisit(
  { client }: Bench,
  measure: (visit: Visit) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  await buildConsole();
  const browser = await openBrowser();
  // The address that the instance tells of itself: signing in comes back to it.
  const url = client.url.replace('127.0.0.1', 'localhost');
  try {
    const visit = { ...(await visitConsole(browser, { url })), url };
    await signIn(visit, { url }, client.token);
    await visit.arrive('Accounts');
    return await measure(visit);
  } finally {
    await browser.close();
  }
}
