import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { createAccessKey } from '../../src/access/access-keys.js';
import { openBrowser } from '../support/servers/browser.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  authorization,
  encode,
  movedClock,
  oauthSteps,
  type OauthSteps,
} from '../support/http/oauth.js';

/** What a client on the user's machine is: it listens for where the browser is sent back to. */
interface Callback {
  readonly uri: string;
  /** Where the browser came, each time. */
  readonly visits: URL[];
  close(): void;
}

async function listen(): Promise<Callback> {
  const visits: URL[] = [];
  const server: Server = createServer((request, response) => {
    visits.push(new URL(request.url ?? '', 'http://localhost'));
    response.setHeader('Content-Type', 'text/html');
    response.end('<title>Back</title>Back at the client.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { uri: `http://127.0.0.1:${port}/callback`, visits, close: () => server.close() };
}

describe('the consent screen', function () {
  // The browser is unpacked when it is first used.
  this.timeout(120_000);
  let instance: TestInstance;
  let steps: OauthSteps;
  let tenant: TestTenant;
  let browser: Browser;
  let page: Page;
  let callback: Callback;
  let clientId: string;
  let key: string;
  const clock = movedClock();
  const complaints: string[] = [];
  const requested: string[] = [];

  const watch = (watched: Page): void => {
    watched.on('request', (request) => requested.push(request.url()));
    watched.on('pageerror', (error) => complaints.push(String(error)));
    watched.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
  };

  before(async () => {
    instance = await openTestInstance({ isPublic: true, now: clock.now });
    steps = await oauthSteps(instance);
    tenant = await instance.tenant();
    callback = await listen();
    clientId = await steps.client({ redirect_uris: ['http://127.0.0.1/callback'] });
    key = await createAccessKey(instance.platform.database.platform, {
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['ADMIN'],
      name: 'Ann',
    });
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    callback.close();
    await instance.close();
  });
  beforeEach(async () => {
    page = await (await browser.createBrowserContext()).newPage();
    watch(page);
    await page.setViewport({ width: 1280, height: 900 });
    callback.visits.length = 0;
    complaints.length = 0;
    requested.length = 0;
  });
  afterEach(() => page.browserContext().close());

  const address = (changes = {}): string =>
    `${instance.url}/api/oauth/per-user/authorize?${encode(
      authorization(clientId, { redirect_uri: callback.uri, ...changes }),
    )}`;
  const textOf = async (of: Page): Promise<string> =>
    String(await of.evaluate('document.body.innerText'));
  const shown = process.env['SCREENSHOTS'];
  const shoot = async (name: string): Promise<void> => {
    if (shown !== undefined)
      await page.screenshot({ path: `${shown}/${name}.png`, fullPage: true });
  };
  const submit = async (button: string): Promise<number> => {
    const [response] = await Promise.all([page.waitForNavigation(), page.click(button)]);
    return response?.status() ?? 0;
  };
  const allow = 'button[value=allow]';
  const deny = 'button[value=deny]';

  // spec/gateway.md R23
  it('says who asks and for what, and lets the client in', async () => {
    await page.goto(address());
    const text = await textOf(page);
    for (const said of [
      'Billing assistant',
      callback.uri.split('/')[2] ?? '',
      'Change billing data',
    ]) {
      expect(text).to.include(said);
    }
    await shoot('desktop');
    await page.type('#credential', key);
    expect(await submit(allow)).to.equal(200);
    expect(await page.title()).to.equal('Back');
    const [visit] = callback.visits;
    expect(visit?.searchParams.get('code')).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(visit?.searchParams.get('state')).to.equal('xyz');
    expect(visit?.searchParams.get('iss')).to.equal(instance.url);
    expect(complaints).to.deep.equal([]);
    const others = requested.filter(
      (url) => !url.startsWith(instance.url) && !url.startsWith('data:'),
    );
    expect(others.every((url) => url.startsWith(callback.uri))).to.equal(true);
  });

  it('is used by keyboard alone: the field has the focus, Enter allows', async () => {
    await page.goto(address());
    // Browsers give the focus with the next frame.
    await page.waitForFunction(`document.activeElement.id === 'credential'`);
    await page.keyboard.type(key);
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(callback.visits[0]?.searchParams.has('code')).to.equal(true);

    await page.goto(address());
    await page.waitForFunction(`document.activeElement.id === 'credential'`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.value')).to.equal('allow');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.value')).to.equal('deny');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(callback.visits[1]?.searchParams.get('error')).to.equal('access_denied');
  });

  it('fits a phone, in light and in dark', async () => {
    await page.setViewport({ width: 320, height: 640, isMobile: true, hasTouch: true });
    await page.goto(address());
    await shoot('phone');
    const overflow = 'document.documentElement.scrollWidth - window.innerWidth';
    expect(Number(await page.evaluate(overflow))).to.be.at.most(0);
    const heights = (await page.evaluate(
      `[...document.querySelectorAll('button, #credential')].map((one) => one.offsetHeight)`,
    )) as number[];
    expect(heights).to.have.length(3);
    expect(Math.min(...heights), 'what a finger meets').to.be.at.least(44);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await shoot('phone-dark');
    expect(await page.evaluate('getComputedStyle(document.body).color')).to.equal(
      'rgb(233, 237, 246)',
    );
  });

  it('denies without a sign-in', async () => {
    await page.goto(address());
    await submit(deny);
    expect(callback.visits[0]?.searchParams.get('error')).to.equal('access_denied');
    expect(callback.visits[0]?.searchParams.get('state')).to.equal('xyz');
  });

  it('asks again after a wrong key, and tells why', async () => {
    await page.goto(address());
    await page.type('#credential', 'nonsense');
    expect(await submit(allow)).to.equal(401);
    await shoot('wrong-key');
    expect(await textOf(page)).to.include('The token is not valid.');
    expect(await page.evaluate(`document.querySelector('#credential').value`)).to.equal('');
    await page.type('#credential', tenant.token);
    await submit(allow);
    expect(callback.visits[0]?.searchParams.has('code')).to.equal(true);
  });

  it('counts one of two clicks', async () => {
    await page.goto(address());
    const consent = page.url();
    const begun = clock.now();
    await page.type('#credential', key);
    const double = `document.querySelector('${allow}').click(); document.querySelector('${allow}').click()`;
    await Promise.all([page.waitForNavigation(), page.evaluate(double)]);
    expect(await page.title()).to.be.oneOf(['Back', 'This is decided already · Durabill']);
    const { rows } = await instance.platform.database.platform.raw(
      `select count(*)::int as count from oauth_grant where created_at >= ?`,
      [begun],
    );
    expect(rows[0].count).to.equal(1);
    const again = await page.goto(consent);
    expect(again?.status()).to.equal(409);
    await shoot('decided');
    expect(await textOf(page)).to.include('You have decided about this request');
  });

  it('is for the browser in which it was begun', async () => {
    await page.goto(address());
    const other = await (await browser.createBrowserContext()).newPage();
    const answer = await other.goto(page.url());
    expect(answer?.status()).to.equal(403);
    expect(await textOf(other)).to.include('another browser');
    await other.browserContext().close();
  });

  it('serves two flows of one browser side by side', async () => {
    await page.goto(address());
    const second = await page.browserContext().newPage();
    await second.goto(address({ state: 'second' }));
    await page.type('#credential', key);
    await submit(allow);
    await second.type('#credential', key);
    await Promise.all([second.waitForNavigation(), second.click(allow)]);
    const states = callback.visits.map((visit) => visit.searchParams.get('state'));
    expect(states).to.deep.equal(['xyz', 'second']);
  });

  // spec/gateway.md R22
  it('ends after fifteen minutes', async () => {
    await page.goto(address());
    await page.type('#credential', key);
    clock.advance(15 * 60);
    expect(await submit(allow)).to.equal(400);
    await shoot('expired');
    expect(await textOf(page)).to.include('expired');
    expect(callback.visits).to.deep.equal([]);
  });

  it('cannot be shown in a frame of another page', async () => {
    await page.goto(address());
    const consent = page.url();
    await page.goto(callback.uri);
    const frame = `new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.src = ${JSON.stringify(consent)};
      frame.onload = () => resolve(frame.contentDocument === null ? 'foreign' : 'empty');
      document.body.append(frame);
    })`;
    await page.evaluate(frame);
    const inside = page.frames().find((one) => one !== page.mainFrame());
    expect(inside?.url()).to.not.equal(consent);
  });
});
