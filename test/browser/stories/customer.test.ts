import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { meteredService, usage } from '../../support/billing/usage.js';
import { openBrowser } from '../../support/servers/browser.js';
import { buildConsole, visitConsole, type ConsoleVisit } from '../../support/servers/console.js';
import { Reader } from '../../support/servers/reader.js';
import { useStory } from '../../support/story/story.js';

/** A customer looks at the page of whoever sells to them, which has the embed in a frame. */
// spec/beyond.md R370, R428
describe('the story of a customer', function () {
  this.timeout(240_000);
  let token = '';
  const shop = createServer((_request, response) => {
    const src = `${story.instance.url}/embed#${new URLSearchParams({ token, language: 'en' }).toString()}`;
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>Shop</title><iframe title="Bills" src="${src}"></iframe>`);
  });
  const shopAt = (host: string): string =>
    `http://${host}:${(shop.address() as AddressInfo).port}/`;
  const corsOrigins: string[] = [];
  before(async () => {
    await once(shop.listen(0), 'listening');
    corsOrigins.push(new URL(shopAt('127.0.0.1')).origin);
  });
  after(() => shop.close());
  const story = useStory({ isPublic: true, corsOrigins });
  let browser: Browser;
  let visit: ConsoleVisit;

  before(async () => {
    const accountId = await story.account('acme', { name: 'Acme & Söhne' });
    await story.account('other');
    const calls = await story.service('Calls', meteredService);
    const at = (account: string, externalTransactionId: string, api_calls: string, more = {}) =>
      usage(account, calls, { externalTransactionId, dimensions: { api_calls }, ...more });
    await story.send(
      at('acme', 'march', '2000'),
      at('acme', 'today', '2100', { eventTimestamp: new Date().toISOString() }),
      at('other', 'secret', '9'),
    );
    await story.bill('2026-03', { accountId });
    await story.pay(accountId, 5);
    const { body } = await story.tenant
      .post('/v1/embeds', { accountId, expiresInSeconds: 600 })
      .expect(201);
    token = body.token as string;
    await buildConsole();
    browser = await openBrowser();
    visit = await visitConsole(browser, story.instance);
  });
  after(() => browser.close());

  it('sees what was used, what is still to be paid, and why it costs that', async () => {
    await visit.page.goto(shopAt('127.0.0.1'));
    const bills = await visit.within('Bills');
    const customer = new Reader(bills);
    await bills.arrive('Usage');
    // Of 2,100 of this month the first 1,000 are free, then 0.02 each: 1,100 x 0.02.
    await customer.reads('$22.00');
    expect(await bills.text()).to.not.include('$20.00');
    await bills.checkAccess();
    await customer.press('Amounts in USD: arrow keys go from bar to bar');
    await visit.page.keyboard.press('Home');
    await bills.find('slider', 'Amounts in USD: arrow keys go from bar to bar');

    await customer.go('Invoices');
    await customer.go('INV-000001', 'Invoice INV-000001');
    // In March it were 2,000: 1,000 x 0.02, of which 5 are paid.
    await customer.reads('Partially paid');
    expect(await bills.text()).to.match(/Total\s+\$20\.00\s+Paid\s+\$5\.00\s+Open\s+\$15\.00/);

    await customer.go('Receipts');
    expect(await bills.text()).to.not.include('secret');
    await customer.go('march', 'Receipt of march');
    await bills.find('image', 'The counter went from 0 to 2,000');
    await bills.find('table', 'Tiers of API calls');
    await customer.reads('Charge of $20.00');
    expect(visit.complaints).to.deep.equal([]);
  });

  it('sees it in a frame of the origins that may call the API, and of no others', async () => {
    const refused = new Promise<string>((resolve) => {
      visit.page.on('console', (message) => resolve(message.text()));
    });
    // The same page under a name that is none of the origins.
    await visit.page.goto(shopAt('localhost'));
    expect(await refused).to.include('frame-ancestors');
  });
});
