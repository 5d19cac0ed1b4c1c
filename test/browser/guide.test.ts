import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { chapters, images } from '../../src/api/guide/chapters.js';
import { openBrowser } from '../support/servers/browser.js';
import { chapterPath } from '../support/http/guide.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { sendRaw } from '../support/http/raw.js';

/** Widths of a telephone, a tablet and a wide screen. */
const looks = [
  ...([360, 800, 1400] as const).map((width) => [width, 'light'] as const),
  ...([360, 1400] as const).map((width) => [width, 'dark'] as const),
];

describe('the pages of the guide', function () {
  // The browser is unpacked when it is first used.
  this.timeout(120_000);
  let instance: TestInstance;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const requested: string[] = [];
  before(async () => {
    instance = await openTestInstance();
    browser = await openBrowser();
    page = await browser.newPage();
    await page.setCacheEnabled(false);
    page.on('request', (request) => requested.push(request.url()));
    page.on('requestfailed', (request) => faults.push(request.url()));
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
  });
  after(async () => {
    await browser.close();
    await instance.close();
  });

  const evaluate = async <T>(expression: string): Promise<T> =>
    (await page.evaluate(expression)) as T;

  it('are all chapters, with the names that they have', async () => {
    const files = await readdir(chapterPath(''));
    expect(files.sort()).to.deep.equal([...chapters.map(({ file }) => file), ...images].sort());
    for (const { file, path, name } of chapters) {
      const answer = await page.goto(instance.url + path);
      expect(answer?.status(), path).to.equal(200);
      expect(await evaluate(`document.querySelector('h1').textContent`)).to.equal(name);
      expect(await evaluate(`document.querySelector('[aria-current]').textContent`)).to.equal(name);
      const examples = (await readFile(chapterPath(file), 'utf8')).match(/^```\w/gm) ?? [];
      expect(await evaluate(`document.querySelectorAll('pre').length`)).to.equal(examples.length);
    }
  });

  it('link to what is there, down to the headings', async () => {
    const links = new Set<string>();
    for (const { path } of chapters) {
      await page.goto(instance.url + path);
      const found = `[...document.querySelectorAll('a')].map((link) => link.href)`;
      for (const href of await evaluate<string[]>(found)) links.add(href);
    }
    for (const href of links) {
      const { origin, pathname, hash } = new URL(href);
      expect(origin, href).to.equal(instance.url);
      const { status, text } = await sendRaw(instance.url, { method: 'GET', path: pathname });
      expect([status, href]).to.deep.equal([200, href]);
      if (hash !== '') expect(text).to.include(`id="${hash.slice(1)}"`);
    }
  });

  it('fit a telephone and a wide screen, light and dark, picture and all', async () => {
    const shown = process.env['SCREENSHOTS'];
    for (const { file, path } of chapters) {
      await page.goto(instance.url + path);
      for (const [width, scheme] of looks) {
        await page.setViewport({ width, height: 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        const beyond = await evaluate<number>(`document.documentElement.scrollWidth - innerWidth`);
        expect(beyond, `${path} at ${width}`).to.equal(0);
        const unseen = `[...document.images].filter((image) => image.naturalWidth === 0).length`;
        expect(await evaluate(unseen)).to.equal(0);
        if (shown !== undefined) {
          const name = `${shown}/${file.replace('.md', '')}-${width}-${scheme}.png` as const;
          await page.screenshot({ path: name, fullPage: true });
        }
      }
    }
  });

  it('load nothing from elsewhere, run nothing, and break nowhere', async () => {
    expect(faults).to.deep.equal([]);
    const { origin } = new URL(instance.url);
    const others = requested.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'));
    expect(others).to.deep.equal([]);
    const answer = await sendRaw(instance.url, { method: 'GET', path: '/docs/guide' });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'").and.not.include('script-src');
  });

  it('are sent once: who has one is told that it has not changed', async () => {
    const prices = { method: 'GET', path: '/docs/guide/prices' };
    const first = await sendRaw(instance.url, prices);
    const headers = { 'If-None-Match': String(first.headers['etag']) };
    const again = await sendRaw(instance.url, { ...prices, headers });
    expect([first.status, again.status]).to.deep.equal([200, 304]);
  });

  it('end with the chapters: any other address is a page that says so', async () => {
    for (const path of ['/docs/guide/nothing', '/docs/guide/README.md', '/docs/guide/..%2f..%2f']) {
      const answer = await page.goto(instance.url + path);
      expect([answer?.status(), path]).to.deep.equal([404, path]);
      expect(await evaluate(`document.querySelector('h1').textContent`)).to.equal(
        'There is nothing here',
      );
    }
  });
});
