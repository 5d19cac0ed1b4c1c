import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { buildConsole } from '../support/servers/console.js';
import { openBrowser } from '../support/servers/browser.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { sendRaw } from '../support/http/raw.js';

describe('the front page', function () {
  this.timeout(120_000);
  let instance: TestInstance;
  let browser: Browser;
  let page: Page;

  before(async () => {
    await buildConsole();
    instance = await openTestInstance();
    browser = await openBrowser();
    page = await browser.newPage();
  });
  after(async () => {
    await browser.close();
    await instance.close();
  });

  it('says what runs here, and each of its links leads somewhere', async () => {
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    const answer = await page.goto(`${instance.url}/`);
    expect(answer?.status()).to.equal(200);
    expect(await page.title()).to.equal('What runs here · Durabill');
    const links = (await page.evaluate(
      `[...document.querySelectorAll('.links a')].map((link) => [link.textContent, link.href])`,
    )) as [string, string][];
    expect(links.map(([name]) => name)).to.include.members([
      'Console',
      'API documentation',
      'OpenAPI document',
      'Health',
    ]);
    const { uiUrl } = instance.platform.temporal;
    expect(links.some(([name]) => name === 'Temporal UI')).to.equal(uiUrl !== null);
    for (const [name, href] of links) {
      if (name === 'Temporal UI') continue;
      expect((await fetch(href)).status, href).to.be.below(400);
    }
    expect(faults).to.deep.equal([]);
  });

  it('is what a 404 for browsers leads back to; API clients keep JSON', async () => {
    const path = '/nowhere/%3Cscript%3E';
    const answer = await page.goto(`${instance.url}${path}`);
    expect(answer?.status()).to.equal(404);
    expect(await page.evaluate(`document.querySelector('h1').textContent`)).to.equal(
      'There is nothing here',
    );
    expect(await page.evaluate(`document.querySelectorAll('script').length`)).to.equal(0);
    for (const accept of [undefined, '*/*', 'application/json']) {
      const headers = accept === undefined ? {} : { accept };
      const { status, headers: answered } = await sendRaw(instance.url, {
        method: 'GET',
        path,
        headers,
      });
      expect([status, answered['content-type']]).to.deep.equal([
        404,
        'application/json; charset=utf-8',
      ]);
    }
  });
});
