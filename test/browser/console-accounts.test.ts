import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { openBrowser } from '../support/servers/browser.js';
import {
  buildConsole,
  signIn,
  visitConsole,
  type ConsoleVisit,
} from '../support/servers/console.js';
import { useStory } from '../support/story/story.js';
import { every, subscription } from '../support/story/prices.js';

/** What would run or be drawn, were a name taken for markup. */
const hostile = '<img src=x onerror=alert(1)> & "Söhne" {{7*7}}';

describe('the console', function () {
  this.timeout(120_000);
  const story = useStory({ isPublic: true });
  let browser: Browser;
  let visit: ConsoleVisit;
  let acme: string;

  before(async () => {
    await buildConsole();
    acme = await story.account('acme', { name: hostile });
    for (let n = 1; n <= 24; n += 1) await story.account(`customer-${String(n).padStart(2, '0')}`);
    const calls = await story.service('API calls');
    await story.subscribe(acme, [
      { serviceId: calls, serviceInstanceId: 'prod', ...every('Monthly') },
    ]);
    const alert = {
      accountId: acme,
      measure: 'spend',
      period: 'Monthly',
      thresholds: [1500, 0.05],
    };
    await story.tenant.post('/v1/alerts', { ...alert, name: hostile }).expect(201);
    const volume = { measure: 'quantity', serviceId: calls, attribute: 'api_calls' };
    await story.tenant
      .post('/v1/alerts', { ...volume, name: 'Loud', period: 'Daily', thresholds: [1000000] })
      .expect(201);
    browser = await openBrowser();
    visit = await visitConsole(browser, story.instance);
  });
  after(async () => {
    await visit.close();
    await browser.close();
  });
  beforeEach(() => {
    visit.complaints.length = 0;
    visit.requested.length = 0;
  });

  // spec/beyond.md R361, R364
  it('asks who you are, and comes back to the page that was asked for', async () => {
    const { page } = visit;
    await page.goto(`${story.instance.url}/console/accounts?q=customer`);
    await visit.find('link', 'Sign in');
    await visit.checkAccess();
    await visit.shoot('sign-in');
    expect(visit.complaints.filter((text) => !text.includes('401'))).to.deep.equal([]);
    await signIn(visit, story.instance, story.tenant.token, {
      path: '/console/accounts?q=customer',
    });
    await visit.arrive('Accounts');
    expect(page.url()).to.equal(`${story.instance.url}/console/accounts?q=customer`);
    await visit.find('table', 'Accounts');
    const kept = (await page.evaluate(
      `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])`,
    )) as string;
    expect(kept).to.not.match(/[A-Za-z0-9_-]{40}/);
    const others = visit.requested.filter((url) => !url.startsWith(story.instance.url));
    expect(others).to.deep.equal([]);
    const told = visit.requested.filter((url) => /token|eyJ|Bearer/.test(url));
    expect(told).to.deep.equal([]);
  });

  it('stays signed in when the page is loaded again, in two tabs at once too', async () => {
    const second = await visit.context.newPage();
    const address = `${story.instance.url}/console/accounts`;
    await Promise.all([visit.page.goto(address), second.goto(address)]);
    for (const page of [visit.page, second]) {
      await page.waitForSelector('::-p-aria([name="Accounts"][role="table"])');
    }
    await second.close();
  });

  // spec/beyond.md R610
  it('shows the first page where an address says none that there could be', async () => {
    for (const given of ['x', '-1', '1.5', '{"a":1}', '99999999999999999999']) {
      await visit.open(`/console/accounts?page=${encodeURIComponent(given)}`, 'Accounts');
      await visit.told('1 to 20 of 25');
    }
    await visit.open('/console/accounts?q={"a":1}', 'Accounts');
    await visit.told('1 to 20 of 25');
  });

  // spec/beyond.md R365
  it('lists accounts by page and finds them by name, number and external id', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.find('table', 'Accounts');
    expect(await visit.text()).to.include('1 to 20 of 25');
    await visit.checkAccess();
    await visit.shoot('accounts');
    await visit.tabTo('Next');
    await visit.page.keyboard.press('Enter');
    await visit.told('21 to 25 of 25');
    expect(visit.page.url()).to.match(/\/console\/accounts\?page=1$/);
    // There is no page behind this one, and the focus stays.
    await visit.quiet();
    expect(await visit.page.evaluate('document.activeElement.textContent')).to.equal('Next');
    await visit.page.goBack();
    await visit.page.waitForFunction(`document.body.innerText.includes('1 to 20 of 25')`);
    const field = await visit.page.waitForSelector('::-p-aria([name="Find accounts"])');
    await field?.type('customer-07');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForFunction(`document.body.innerText.includes('1 to 1 of 1')`);
    await field?.type('nobody');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForFunction(`document.body.innerText.includes('No account has this')`);
    await visit.checkAccess();
    expect(visit.complaints).to.deep.equal([]);
  });

  it('shows an account with its lines, wallets and time line; names are never markup', async () => {
    await visit.open('/console/accounts?q=acme', 'Accounts');
    await visit.click('link', hostile);
    await visit.arrive(hostile);
    await visit.find('heading', 'Contract lines');
    await visit.page.waitForFunction(`document.body.innerText.includes('API calls')`);
    const text = await visit.text();
    for (const said of ['prod', 'This account has no wallet', `Account ${hostile} was made`]) {
      expect(text).to.include(said);
    }
    expect(await visit.page.evaluate('document.activeElement.textContent')).to.equal(hostile);
    expect(await visit.page.title()).to.equal(`${hostile} · Durabill console`);
    await visit.checkAccess();
    await visit.shoot('account');
    expect(visit.complaints).to.deep.equal([]);
  });

  // spec/beyond.md R481
  it('shows the lists of an account page by page, which the address has', async () => {
    const { page } = visit;
    const many = await story.account('many', { name: 'Many Ltd.' });
    const serviceId = await story.service('Calls of sites');
    for (let n = 1; n <= 21; n += 1) {
      const line = { serviceId, serviceInstanceId: `site-${n}` };
      await story.subscribe(many, [line], { number: `M-${n}` });
    }
    await visit.open(`/console/accounts/${many}`, 'Many Ltd.');
    await visit.told('1 to 20 of 21');
    await visit.inspect('account-many');
    const shown = async (): Promise<string[]> => [
      ...new Set([...(await visit.text()).matchAll(/site-\d+/g)].map(([name]) => name)),
    ];
    await visit.told('site-');
    await visit.quiet();
    const first = await shown();
    expect(first).to.have.length(20);
    await visit.tabTo('Next');
    await page.keyboard.press('Enter');
    await visit.told('21 to 21 of 21');
    await visit.quiet();
    expect(page.url()).to.match(/\?pages=contracts\.1$/);
    const rest = await shown();
    expect(new Set([...first, ...rest]).size).to.equal(21);
    await page.reload();
    await visit.told('21 to 21 of 21');
    await page.goBack();
    await visit.told('1 to 20 of 21');
    // What fits on one page says nothing of pages.
    expect(await visit.text()).to.not.include('1 to 1 of 1');
  });

  // spec/beyond.md R436
  it('shows what an account has paid, and which invoices that pays', async () => {
    const paid = await story.account('paid', { name: 'Paid Ltd.' });
    const plan = await story.service('Plan', subscription('Seats', 31));
    await story.subscribe(paid, [{ serviceId: plan, ...every('Monthly') }], {
      startDate: '2026-03-01',
    });
    await story.bill('2026-03', { accountId: paid });
    await story.pay(paid, 40, { paymentReference: 'wire 7' });
    await visit.open(`/console/accounts/${paid}`, 'Paid Ltd.');
    await visit.find('table', 'Payments, the latest first');
    // 40 less the 31 of the invoice.
    for (const said of ['wire 7', '2026-04-02', 'USD 40.00', 'USD 9.00']) await visit.told(said);
    await visit.tabTo('What it pays, wire 7');
    await visit.page.keyboard.press('Enter');
    await visit.told('INV-000001: USD 31.00');
    // spec/beyond.md R606
    expect(await visit.text()).to.match(/Owes\s+Nothing/);
    await visit.inspect('account-payments');
    await visit.click('link', 'INV-000001');
    await visit.arrive('Invoice INV-000001');
    // spec/beyond.md R451
    await visit.told('USD 0.00');
    expect(await visit.text()).to.match(
      /Total\s+USD 31\.00\s+Paid\s+USD 31\.00\s+Open\s+USD 0\.00/,
    );
  });

  // spec/beyond.md R426
  it('shows which alerts an account can trigger', async () => {
    await visit.open(`/console/accounts/${acme}`, hostile);
    await visit.find('table', 'Alerts');
    for (const said of ['at 0.05 and 1,500', 'each account', 'volume of api_calls', '1,000,000'])
      await visit.told(said);
    await visit.open('/console/accounts?q=customer-01', 'Accounts');
    await visit.told('1 to 1 of 1');
    // spec/beyond.md R500
    expect(await visit.text()).to.not.include('Next');
    await visit.click('link', 'customer-01');
    await visit.arrive('customer-01');
    await visit.told('Loud');
    expect(await visit.text()).to.not.include('1,500');
  });

  it('says at its place what is not there, and what somebody may not see', async () => {
    await visit.open('/console/accounts/00000000-0000-4000-8000-000000000000', 'Account');
    await visit.find('alert', '');
    // spec/beyond.md R500
    expect(await visit.text())
      .to.include('There is nothing here')
      .and.not.include('Try again');
    await visit.checkAccess();
    await visit.shoot('account-missing');
    await visit.open('/console/nowhere', 'There is nothing here');
    await visit.checkAccess();
  });

  // spec/beyond.md R370
  it('is used by keyboard alone', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.find('table', 'Accounts');
    const { page } = visit;
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('To the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('content');
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal(hostile);
    await page.keyboard.press('Enter');
    await visit.arrive(hostile);
    await page.goBack();
    await visit.arrive('Accounts');
  });

  it('fits 320 px and 2,560 px without scrolling sideways', async () => {
    for (const width of [320, 2560]) {
      await visit.page.setViewport({ width, height: 800 });
      for (const [path, title] of [
        ['/console/accounts', 'Accounts'],
        [`/console/accounts/${acme}`, hostile],
      ] as const) {
        await visit.open(path, title);
        await visit.quiet();
        const overflow =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await visit.page.evaluate(overflow), `${path} at ${width}`).to.equal(0);
        await visit.shoot(`${title === 'Accounts' ? 'accounts' : 'account'}-${width}`);
        if (width === 320) await visit.checkAccess();
      }
    }
    await visit.page.setViewport({ width: 1280, height: 900 });
  });

  it('moves nothing for whoever asks for less motion', async () => {
    const { page } = visit;
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    for (const path of ['accounts', 'usage', 'billing', 'prices']) {
      await page.goto(`${story.instance.url}/console/${path}`);
      await visit.quiet();
      const moving = `[...document.querySelectorAll('*')].filter((one) => {
        const { transitionDuration, animationName } = getComputedStyle(one);
        return transitionDuration !== '0s' || animationName !== 'none';
      }).length`;
      expect(await page.evaluate(moving), path).to.equal(0);
    }
    await page.emulateMediaFeatures([]);
  });

  // spec/beyond.md R371
  it('loads its first page with at most 180 KB', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.find('table', 'Accounts');
    await visit.quiet();
    const files = [...new Set(visit.requested.filter((url) => url.includes('/console/assets/')))];
    let bytes = 0;
    for (const url of files) {
      bytes += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
    }
    expect(files.length).to.be.greaterThan(2);
    expect(bytes).to.be.within(50_000, 180_000);
  });

  // spec/beyond.md R383
  it('lists sessions, and ends one, which ends here', async () => {
    const other = await visitConsole(browser, story.instance);
    await signIn(other, story.instance, story.tenant.token);
    await other.arrive('Accounts');
    await visit.open('/console/accounts', 'Accounts');
    await visit.page.click('details summary');
    await visit.click('link', 'Sessions');
    await visit.arrive('Sessions');
    await visit.find('table', 'Sessions, the latest first');
    await visit.told('this browser');
    await visit.inspect('sessions');
    await visit.tabTo('End session of tester');
    await visit.page.keyboard.press('Enter');
    await visit.told('Whoever uses it is refused at once');
    await visit.inspect('sessions-asked');
    await visit.tabTo('End session of tester now');
    await visit.page.keyboard.press('Enter');
    await visit.told('by tester');
    expect(await visit.text()).to.not.include('End session of tester');
    // spec/beyond.md R534
    await visit.told('The session of tester has ended.');
    expect(await visit.page.evaluate('document.activeElement.textContent')).to.equal(
      'The session of tester has ended.',
    );
    await visit.checkAccess();
    await visit.shoot('sessions-ended');
    // spec/beyond.md R555
    await other.click('link', 'Invoices');
    await other.told('Your session has ended: somebody ended it, or its time was over.');
    await other.find('link', 'Sign in');
    await other.checkAccess();
    await other.shoot('session-ended');
    await other.close();
  });

  // spec/beyond.md R522
  it('marks the session of this browser, and says before that it ends here', async () => {
    const own = await visitConsole(browser, story.instance);
    await signIn(own, story.instance, story.tenant.token, { path: '/console/sessions' });
    await own.tabTo('End session of this browser');
    await own.page.keyboard.press('Enter');
    await own.told('You are signed in with it: this browser has to sign in again.');
    await own.tabTo('End session of this browser now');
    await own.page.keyboard.press('Enter');
    await own.find('link', 'Sign in');
    await own.close();
  });

  // spec/beyond.md R363
  it('signs out', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.page.waitForSelector('details summary');
    await visit.page.click('details summary');
    await visit.checkAccess();
    await visit.shoot('person');
    await visit.click('button', 'Sign out');
    await visit.find('link', 'Sign in');
    await visit.page.reload();
    await visit.find('link', 'Sign in');
  });
});
