import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { demoAccount, demoService } from '../../src/cli/demo/demo-catalog.js';
import { KillableProduct } from '../start/killable.js';
import { until } from '../start/workbench.js';
import { openBrowser } from '../support/servers/browser.js';
import { signIn, visitConsole, type ConsoleVisit } from '../support/servers/console.js';
import { Reader } from '../support/servers/reader.js';

const external = '/api/v1/external';
const away = 'The server does not answer. This page goes on by itself once it does.';

/** A page of the console is open while the whole product under it is killed, and started again. */
// spec/beyond.md R487, R602
describe('the console of a server that is killed', function () {
  // Two starts of the whole product, on a machine that others use as well.
  this.timeout(480_000);
  let product: KillableProduct;
  let token = '';
  let serviceId = '';
  let browser: Browser;
  let visit: ConsoleVisit;

  const create = async (path: string, body: object): Promise<string> => {
    const response = await product.send(token, `${external}${path}`, { body });
    expect(response.status).to.equal(201);
    return ((await response.json()) as { id: string }).id;
  };
  const send = async (externalTransactionId: string): Promise<void> => {
    const message = {
      externalTransactionId,
      serviceId,
      billingAccountRef: demoAccount.externalId,
      eventTimestamp: new Date().toISOString(),
      dimensions: { api_calls: '100', priority: '1', region: 'us' },
    };
    const response = await product.send(token, '/v1/ingest/usage', { body: { message } });
    expect(response.status).to.equal(200);
  };

  before(async () => {
    product = await KillableProduct.start();
    token = await product.token('kill');
    await create('/accounts', demoAccount);
    serviceId = await create('/services', demoService);
    browser = await openBrowser();
    visit = await visitConsole(browser, product);
  });
  after(async () => {
    await browser.close();
    await product.close();
  });

  it('says so, and goes on by itself once it is started again', async () => {
    const { page } = visit;
    const reader = new Reader(visit);
    await signIn(visit, product, token, { path: '/console/usage' });
    await visit.arrive('Usage');
    // Whoever is not signed in yet is told so by 401.
    visit.complaints.splice(0);
    // A page that is loaded again forgets this.
    await page.evaluate('globalThis.isTheSame = true');
    await send('before');
    await reader.reads('1 event was accepted in all.');
    expect(visit.complaints).to.deep.equal([]);

    // What was accepted last may not be rated yet.
    await send('at the end');
    await product.kill();
    await reader.reads(away);
    await visit.checkAccess();
    await visit.shoot('usage-killed');
    await product.launch();
    await reader.reads('2 events were accepted in all.');
    await send('after');
    await reader.reads('3 events were accepted in all.');
    await page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(away)})`);
    // What was accepted is rated a moment later.
    const rated = () => product.query('select 1 from rated_transaction');
    await until(async () => (await rated()).length === 3, 60_000, 'the rating of all three');

    // Whoever was signed in still is, on pages that were never loaded before, too.
    await reader.go('Webhooks');
    expect(await page.evaluate('globalThis.isTheSame')).to.equal(true);
    // The browser noticed that nothing answered, and no fault of a script.
    expect(visit.complaints.filter((text) => !text.includes('net::ERR_'))).to.deep.equal([]);
  });

  it('comes to a page that was asked for meanwhile, whose file nobody could give', async () => {
    const reader = new Reader(visit);
    await product.kill();
    await visit.click('link', 'Accounts');
    await reader.reads(away);
    await product.launch();
    await visit.arrive('Accounts');
    await reader.go(demoAccount.name);
  });
});
