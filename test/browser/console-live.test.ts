import { expect } from 'chai';
import type { Browser, HTTPResponse } from 'puppeteer-core';
import { usage } from '../support/billing/usage.js';
import { openBrowser } from '../support/servers/browser.js';
import { layCable, type Cable } from '../support/servers/cable.js';
import {
  buildConsole,
  signIn,
  visitConsole,
  type ConsoleVisit,
} from '../support/servers/console.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { Story } from '../support/story/story.js';

/**
 * A page that hears of changes looks by itself after 30 s, one that hears nothing after 5: what is said
 * before was told to it. How fast that is, `npm run bench -- console` measures.
 */
const toldMs = 10_000;
const silenceMs = 6_000;

const accepted = (count: number): string =>
  `${count === 1 ? '1 event was' : `${count} events were`} accepted in all.`;

describe('live updates of the console', function () {
  this.timeout(120_000);
  let instance: TestInstance;
  let story: Story;
  let cable: Cable;
  let browser: Browser;
  let visit: ConsoleVisit;
  let calls: string;
  let beta: string;

  before(async () => {
    await buildConsole();
    // The browser comes by a cable that can be pulled out: the server is gone for it then.
    const spare = await layCable('http://127.0.0.1:1');
    const { origin, port } = new URL(spare.url);
    await spare.cut();
    instance = await openTestInstance({ withWorkers: true, isPublic: true, publicUrl: origin });
    cable = await layCable(instance.url, Number(port));
    story = new Story(instance, await instance.tenant(), { now: undefined });
    await story.account('acme');
    calls = await story.service('API calls');
    beta = await story.account('beta');
    await story.subscribe(beta, [calls]);
    browser = await openBrowser();
    const seen = { ...instance, url: origin };
    visit = await visitConsole(browser, seen);
    await signIn(visit, seen, story.tenant.token, { path: '/console/usage' });
    await visit.arrive('Usage');
  });
  after(async () => {
    await visit.close();
    await browser.close();
    await cable.cut();
    await instance.close();
  });
  beforeEach(() => {
    visit.complaints.splice(0);
    visit.requested.splice(0);
  });

  /** How often the page has asked this address. */
  const asked = (part: string): number =>
    visit.requested.filter((url) => url.includes(part)).length;
  const passed = async (work: () => Promise<void>): Promise<number> => {
    const since = performance.now();
    await work();
    return performance.now() - since;
  };
  const toldAtOnce = async (text: string): Promise<void> => {
    expect(await passed(() => visit.told(text))).to.be.lessThan(toldMs);
  };

  // spec/beyond.md R423
  it('shows usage that is rated at once, and asks for nothing while nothing happens', async () => {
    await visit.told('Nothing was rated in this time.');
    // It reads again when its stream has begun: something may have happened before.
    const isSummary = (response: HTTPResponse) => response.url().includes('/summary');
    await visit.page.reload();
    await visit.page.waitForResponse(isSummary);
    await visit.page.waitForResponse(isSummary);
    await visit.quiet();
    visit.requested.splice(0);
    await new Promise((resolve) => setTimeout(resolve, silenceMs));
    expect(visit.requested).to.deep.equal([]);
    await story.send(usage('beta', calls));
    await toldAtOnce(accepted(1));
    await visit.inspect('usage-live');
    expect(visit.complaints).to.deep.equal([]);
  });

  it('asks twice a second at most, however much is rated', async () => {
    const tookMs = await passed(async () => {
      for (let count = 0; count < 20; count += 1) await story.send(usage('beta', calls));
      await toldAtOnce(accepted(21));
    });
    expect(asked('/v1/usage?')).to.be.within(1, tookMs / 500 + 3);
  });

  it('adds usage to the next invoice at once', async () => {
    await visit.open(`/console/accounts/${beta}/next-invoice`, 'Next invoice');
    // 21 events of 100 calls at 0.01 each, and then one more.
    await visit.told('USD 21.00');
    await visit.quiet();
    await story.send(usage('beta', calls));
    await toldAtOnce('USD 22.00');
    expect(visit.complaints).to.deep.equal([]);
  });

  it('shows a billing run of somebody else at once', async () => {
    await visit.open('/console/billing', 'Billing');
    await visit.told('Nothing was billed yet.');
    await visit.quiet();
    await story.tenant.post('/v1/workflows/billing-run/execute', {
      data: { periodStart: '2026-01-01', periodEnd: '2026-01-31', dryRun: true },
    });
    await toldAtOnce('2026-01-01 to 2026-01-31');
    await visit.told('completed');
    expect(visit.complaints).to.deep.equal([]);
  });

  it('says that the server is gone while it is looked at, and goes on by itself', async () => {
    await visit.open('/console/usage', 'Usage');
    await visit.told(accepted(22));
    await visit.quiet();
    await cable.cut();
    await visit.told('The server does not answer. This page goes on by itself once it does.');
    await visit.checkAccess();
    await visit.shoot('usage-away');
    await story.send(usage('beta', calls));
    const stream = visit.page.waitForResponse((one) => one.url().includes('/v1/changes?'));
    await cable.mend();
    await visit.told(accepted(23));
    await stream;
    await story.send(usage('beta', calls));
    await toldAtOnce(accepted(24));
    expect(await visit.text()).to.not.include('does not answer');
  });
});
