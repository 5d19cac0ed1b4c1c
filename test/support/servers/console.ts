import { setTimeout as wait } from 'node:timers/promises';
import axe, { type AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContext, HTTPRequest, Page } from 'puppeteer-core';
import type { TestInstance } from './instance.js';

/** Bundles the console where its sources have changed, as every start does. */
export async function buildConsole(): Promise<void> {
  const path = new URL('../../../bin/compile.js', import.meta.url).href;
  const { compile } = (await import(path)) as { compile: () => Promise<void> };
  await compile();
}

/** Where the console is. */
type Place = Pick<TestInstance, 'url'>;

/** A browser that looks at the console, and what it noticed on the way. */
export interface ConsoleVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of: faults of scripts, refusals by policy. */
  readonly complaints: string[];
  /** The addresses that it asked for. */
  readonly requested: string[];
  /** Opens a page of the console and waits for its title. */
  open(path: string, title: string): Promise<void>;
  /** Waits for the heading of a page. */
  arrive(title: string): Promise<void>;
  /** Waits until nothing was asked for a moment; the stream of changes stays open all the time. */
  quiet(): Promise<void>;
  click(role: string, name: string): Promise<void>;
  text(): Promise<string>;
  /** The name and value of what has this role and name, once it is there. */
  find(role: string, name: string): Promise<void>;
  /** Fails for what axe finds, in both themes. */
  checkAccess(): Promise<void>;
  /** Writes a picture where SCREENSHOTS says, and those of the README where DRAW_CONSOLE is set. */
  shoot(name: string): Promise<void>;
  /** What every page has to pass (spec/beyond.md R370): axe and the width, from 320 to 2,560 px. */
  inspect(name: string): Promise<void>;
  /** Presses the tab key until what has this name has the focus. */
  tabTo(name: string): Promise<void>;
  /** Waits until the page says this. */
  told(text: string): Promise<void>;
  close(): Promise<void>;
}

const selectorOf = (role: string, name: string): string =>
  `::-p-aria([name=${JSON.stringify(name)}][role=${JSON.stringify(role)}])`;

const pageText = `document.body.innerText.replaceAll('\\u00a0', ' ')`;

const tabsMax = 60;
/** A machine that others use, too, takes its time. */
const foundMs = 30_000;

/** The name of what has the focus, as far as buttons, links and labelled fields have one. */
const focusedName = `(({ ariaLabel, labels, textContent }) =>
  ariaLabel ?? labels?.[0]?.firstElementChild?.textContent ?? textContent)(document.activeElement)`;

const shown = process.env['SCREENSHOTS'];

/** The pictures of the README, which `npm run draw-console` takes anew. */
const pictured = new Set(['receipt-light', 'billing-dry-run-light', 'prices-tried-dark']);
const pictures = new URL('../../../docs/pictures/console/', import.meta.url).pathname;

/** Where a picture is written, if anywhere. */
function placesOf(name: string): string[] {
  const isDrawn = process.env['DRAW_CONSOLE'] !== undefined && pictured.has(name);
  return [...(shown === undefined ? [] : [shown]), ...(isDrawn ? [pictures] : [])];
}

/** How long nothing is asked before a page counts as loaded. */
const quietMs = 100;

/**
 * Counts what a page asks; the function waits until nothing is asked any more. Answered is what has its
 * head: a body that nobody reads, as of a 401, need not ever end.
 */
function watchNetwork(page: Page): () => Promise<void> {
  const open = new Set<HTTPRequest>();
  let changedAt = performance.now();
  const end = (request: HTTPRequest): void => {
    open.delete(request);
    changedAt = performance.now();
  };
  page.on('request', (request) => {
    if (request.url().includes('/v1/changes?')) return;
    open.add(request);
    changedAt = performance.now();
  });
  page.on('response', (response) => end(response.request()));
  page.on('requestfinished', end).on('requestfailed', end);
  return async () => {
    const until = performance.now() + foundMs;
    while (open.size > 0 || performance.now() - changedAt < quietMs) {
      if (performance.now() > until) {
        throw new Error(`Still asking: ${[...open].map((request) => request.url()).join(', ')}`);
      }
      await wait(20);
    }
  };
}

async function inTheme(page: Page, theme: 'light' | 'dark', work: () => Promise<void>) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await work();
}

/** Opens a browser of its own at an instance; nobody is signed in. */
export async function visitConsole(browser: Browser, { url }: Place): Promise<ConsoleVisit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  const quiet = watchNetwork(page);
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  const find = async (role: string, name: string): Promise<void> => {
    await page.waitForSelector(selectorOf(role, name), { timeout: foundMs });
  };
  const visit: ConsoleVisit = {
    page,
    context,
    complaints,
    requested,
    quiet,
    find,
    arrive: (title) => find('heading', title),
    async open(path, title) {
      await page.goto(`${url}${path}`);
      await visit.arrive(title);
    },
    async click(role, name) {
      const found = await page.waitForSelector(selectorOf(role, name), { timeout: foundMs });
      await found?.click();
    },
    // Amounts keep their currency by a space that does not break.
    text: async () => String(await page.evaluate(pageText)),
    async checkAccess() {
      await quiet();
      await page.evaluate(axe.source);
      for (const theme of ['light', 'dark'] as const) {
        await inTheme(page, theme, async () => {
          const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
          const found = violations.map(
            ({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
          );
          expect(found).to.deep.equal([]);
        });
      }
      await page.emulateMediaFeatures([]);
    },
    async shoot(name) {
      for (const theme of ['light', 'dark'] as const) {
        const places = placesOf(`${name}-${theme}`);
        if (places.length === 0) continue;
        await quiet();
        await inTheme(page, theme, async () => {
          for (const place of places) {
            const path = `${place}/${name}-${theme}.png`;
            // Beyond its viewport Chromium shifts a page that is read from right to left.
            await page.screenshot({ path, fullPage: true, captureBeyondViewport: false });
          }
        });
      }
      await page.emulateMediaFeatures([]);
    },
    async inspect(name) {
      await visit.checkAccess();
      await visit.shoot(name);
      for (const width of [320, 1280, 2560]) {
        await page.setViewport({ width, height: 900 });
        await quiet();
        const overflow =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(overflow), `${name} at ${width}`).to.equal(0);
        if (width === 320) {
          await visit.checkAccess();
          await visit.shoot(`${name}-${width}`);
        }
      }
      await page.setViewport({ width: 1280, height: 900 });
    },
    async tabTo(name) {
      const passed: string[] = [];
      while (passed.length < tabsMax) {
        await page.keyboard.press('Tab');
        const focused = String(await page.evaluate(focusedName));
        if (focused === name) return;
        passed.push(focused);
      }
      expect.fail(`The tab key does not come to "${name}", but to ${passed.join(', ')}`);
    },
    async told(text) {
      const said = `${pageText}.includes(${JSON.stringify(text)})`;
      const isSaid = await page.waitForFunction(said, { timeout: foundMs }).catch(() => undefined);
      if (isSaid === undefined) throw new Error(`No "${text}" in: ${await visit.text()}`);
    },
    close: () => context.close(),
  };
  return visit;
}

/** Signs in with an access key or token, from the page that is asked for; perhaps to look only. */
export async function signIn(
  visit: ConsoleVisit,
  { url }: Place,
  credential: string,
  { path = '/console/accounts', looksOnly = false } = {},
): Promise<void> {
  await visit.page.goto(`${url}${path}`);
  await visit.click('link', 'Sign in');
  if (looksOnly) await visit.click('radio', 'No, leave this out');
  const field = await visit.page.waitForSelector(
    '::-p-aria([name="Your access key or token"][role="textbox"])',
  );
  await field?.type(credential);
  await visit.click('button', 'Sign in');
}
