import { setTimeout as wait } from 'node:timers/promises';
import axe, { type AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContext, Frame, HTTPRequest, Page } from 'puppeteer-core';
import { foundMs } from './browser.js';
import type { TestInstance } from './instance.js';

/** Bundles the console where its sources have changed, as every start does. */
export async function buildConsole(): Promise<void> {
  for (const name of ['compile', 'bundle-console']) {
    const path = new URL(`../../../bin/${name}.js`, import.meta.url).href;
    const made = (await import(path)) as Readonly<Record<string, () => Promise<void>>>;
    await (made.compile ?? made.bundleConsole)?.();
  }
}

/** Where the console is. */
type Place = Pick<TestInstance, 'url'>;

/** What is seen of a page, or of a frame in it. */
export interface Sight {
  readonly frame: Frame;
  /** The name and value of what has this role and name, once it is there. */
  find(role: string, name: string): Promise<void>;
  /** Waits for the heading of a page. */
  arrive(title: string): Promise<void>;
  text(): Promise<string>;
  /** Waits until the page says this. */
  told(text: string): Promise<void>;
  /** Presses the tab key until what has this name has the focus, once it is there. */
  tabTo(name: string): Promise<void>;
  /** Fails for what axe finds, in both themes. */
  checkAccess(): Promise<void>;
}

/** A browser that looks at the console, and what it noticed on the way. */
export interface ConsoleVisit extends Sight {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of: faults of scripts, refusals by policy. */
  readonly complaints: string[];
  /** The addresses that it asked for. */
  readonly requested: string[];
  /** Opens a page of the console and waits for its title. */
  open(path: string, title: string): Promise<void>;
  /** What is seen of the frame that has this title. */
  within(title: string): Promise<Sight>;
  /** Waits until nothing was asked for a moment; the stream of changes stays open all the time. */
  quiet(): Promise<void>;
  click(role: string, name: string): Promise<void>;
  /** Writes a picture where SCREENSHOTS says, and those of the README where DRAW_CONSOLE is set. */
  shoot(name: string): Promise<void>;
  /** What every page has to pass (spec/beyond.md R370): axe and the width, from 320 to 2,560 px. */
  inspect(name: string): Promise<void>;
  close(): Promise<void>;
}

const selectorOf = (role: string, name: string): string =>
  `::-p-aria([name=${JSON.stringify(name)}][role=${JSON.stringify(role)}])`;

const pageText = `document.body.innerText.replaceAll('\\u00a0', ' ')`;

const tabsMax = 60;

/** The name of an element, as far as buttons, links and labelled fields have one. */
const nameOf = `(({ ariaLabel, labels, textContent }) =>
  ariaLabel ?? labels?.[0]?.firstElementChild?.textContent ?? textContent)`;

const focusedName = `${nameOf}(document.activeElement)`;

/** Whether there is anything of this name that the tab key may come to. */
const isThere = (name: string): string =>
  `[...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')].some(
    (element) => ${nameOf}(element) === ${JSON.stringify(name)})`;

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

/** What axe looks for once more where a theme has changed nothing but colors. */
const onlyColors = `{ runOnly: ['color-contrast', 'link-in-text-block'] }`;

async function inTheme(page: Page, theme: 'light' | 'dark', work: () => Promise<void>) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await work();
}

function sightOf(frame: Frame, quiet: () => Promise<void>): Sight {
  const page = frame.page();
  // Amounts keep their currency by a space that does not break.
  const text = async (): Promise<string> => String(await frame.evaluate(pageText));
  const find = async (role: string, name: string): Promise<void> => {
    await frame.waitForSelector(selectorOf(role, name), { timeout: foundMs });
  };
  return {
    frame,
    find,
    arrive: (title) => find('heading', title),
    text,
    async told(said) {
      const isSaid = `${pageText}.includes(${JSON.stringify(said)})`;
      const found = await frame
        .waitForFunction(isSaid, { timeout: foundMs })
        .catch(() => undefined);
      if (found === undefined) throw new Error(`No "${said}" in: ${await text()}`);
    },
    async tabTo(name) {
      await frame.waitForFunction(isThere(name), { timeout: foundMs }).catch(() => undefined);
      const passed: string[] = [];
      while (passed.length < tabsMax) {
        await page.keyboard.press('Tab');
        const focused = String(await frame.evaluate(focusedName));
        if (focused === name) return;
        passed.push(focused);
      }
      expect.fail(`The tab key does not come to "${name}", but to ${passed.join(', ')}`);
    },
    async checkAccess() {
      await quiet();
      if (!(await frame.evaluate(`'axe' in window`))) await frame.evaluate(axe.source);
      for (const theme of ['light', 'dark'] as const) {
        await inTheme(page, theme, async () => {
          const run = `axe.run(${theme === 'light' ? '' : onlyColors})`;
          const { violations } = (await frame.evaluate(run)) as AxeResults;
          const found = violations.map(
            ({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
          );
          expect(found).to.deep.equal([]);
        });
      }
      await page.emulateMediaFeatures([]);
    },
  };
}

/** Opens a browser of its own at an instance; nobody is signed in. */
export async function visitConsole(browser: Browser, { url }: Place): Promise<ConsoleVisit> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  // As on a page over HTTP of another machine, where browsers have no such thing (spec/beyond.md R506).
  await page.evaluateOnNewDocument('delete Crypto.prototype.randomUUID');
  await page.setViewport({ width: 1280, height: 900 });
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  const quiet = watchNetwork(page);
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  const visit: ConsoleVisit = {
    page,
    context,
    complaints,
    requested,
    quiet,
    ...sightOf(page.mainFrame(), quiet),
    async within(title) {
      const selector = `::-p-aria(${title})`;
      const frame = await (await page.waitForSelector(selector))?.contentFrame();
      if (!frame) throw new Error(`${title} is no frame.`);
      return sightOf(frame, quiet);
    },
    async open(path, title) {
      await page.goto(`${url}${path}`);
      await visit.arrive(title);
    },
    async click(role, name) {
      const found = await page.waitForSelector(selectorOf(role, name), { timeout: foundMs });
      await found?.click();
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
    close: () => context.close(),
  };
  return visit;
}

/**
 * Signs in with an access key or token, from the page that is asked for; perhaps to look only. By
 * keyboard alone, as whoever reads the console may have to.
 */
export async function signIn(
  visit: ConsoleVisit,
  { url }: Place,
  credential: string,
  { path = '/console/accounts', looksOnly = false } = {},
): Promise<void> {
  await visit.page.goto(`${url}${path}`);
  await visit.find('link', 'Sign in');
  await visit.tabTo('Sign in');
  await visit.page.keyboard.press('Enter');
  const field = await visit.page.waitForSelector(
    '::-p-aria([name="Your access key or token"][role="textbox"])',
  );
  if (looksOnly) await visit.click('radio', 'No, leave this out');
  await field?.type(credential);
  await visit.page.keyboard.press('Enter');
}
