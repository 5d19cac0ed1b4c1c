import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { declaredOperations } from '../support/http/answers.js';
import { openBrowser } from '../support/servers/browser.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { sendRaw } from '../support/http/raw.js';

describe('the documentation page', function () {
  // The browser is unpacked when it is first used.
  this.timeout(120_000);
  let instance: TestInstance;
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const refused: string[] = [];
  before(async () => {
    instance = await openTestInstance();
    browser = await openBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requested.push(request.url()));
    page.on('requestfailed', (request) => refused.push(request.url()));
    page.on('pageerror', (error) => refused.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text());
    });
    await page.setViewport({ width: 1400, height: 1000 });
    await page.goto(`${instance.url}/docs`, { waitUntil: 'networkidle0' });
  });
  after(async () => {
    await browser.close();
    await instance.close();
  });

  it('shows the operations by their headings', async () => {
    await page.waitForFunction(`document.body.innerText.includes('Durabill')`);
    const text = String(await page.evaluate('document.body.innerText'));
    for (const tag of new Set(declaredOperations.map((operation) => operation.tag))) {
      expect(text).to.include(tag);
    }
  });

  it('calls nobody but this machine, and breaks nowhere', () => {
    const { origin } = new URL(instance.url);
    const others = requested.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'));
    expect(others).to.deep.equal([]);
    expect(requested).to.include(`${origin}/openapi.json`);
    expect(refused).to.deep.equal([]);
  });

  it('is not allowed to call anybody else', async () => {
    // Nothing listens on this port of the machine; the policy refuses before that is known.
    const attempt = `fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')`;
    const violated = `new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.violatedDirective));
      void ${attempt};
    })`;
    expect(await page.evaluate(violated)).to.equal('connect-src');
  });

  it('may not be framed or run foreign scripts', async () => {
    const answer = await sendRaw(instance.url, { method: 'GET', path: '/docs' });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).to.equal("'self'");
  });
});
