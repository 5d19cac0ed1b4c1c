import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { usage } from '../support/billing/usage.js';
import { openBrowser } from '../support/servers/browser.js';
import {
  buildConsole,
  signIn,
  visitConsole,
  type ConsoleVisit,
} from '../support/servers/console.js';
import { useStory } from '../support/story/story.js';

const ofAdmin = 'needs the role ADMIN';
const ofOperator = 'needs the role OPERATOR or ADMIN';
const toLook = 'you are signed in to look only';

/** What people are offered to do who may not do everything. */
// spec/beyond.md R473
describe('roles in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let browser: Browser;
  /** Path, title, and the button there with the reason of those who may not press it. */
  let offered: readonly (readonly [string, string, string, string])[];

  before(async () => {
    const calls = await story.service('Calls');
    await story.send(usage('nobody', calls));
    const url = `${story.instance.url}/elsewhere`;
    const webhook = { url, events: ['invoice.posted'], secret: 'a secret of some length' };
    const { body } = await story.tenant.post('/v1/webhooks', webhook).expect(201);
    await story.tenant.post('/v1/access-keys', { name: 'Theirs', roles: ['READER'] }).expect(201);
    offered = [
      ['/billing', 'Billing', 'Show what would be billed', ofOperator],
      ['/usage/events?status=rejected', 'Rejected events', 'Try again', ofOperator],
      ['/workflows/billing-run', 'Billing Run', 'Execute', ofOperator],
      ['/workflows/new', 'Define a workflow', 'Publish', ofAdmin],
      [`/webhooks/${body.id}`, url, 'Send a test event', ofAdmin],
      ['/access-keys', 'Access keys', 'Make it', ofAdmin],
      ['/sessions', 'Sessions', 'End session of this browser', ofAdmin],
    ];
    await buildConsole();
    browser = await openBrowser();
  });
  after(() => browser.close());

  /** Opens every page as somebody, and compares what is there with what they may. */
  async function look(
    as: { readonly roles: readonly string[]; readonly looksOnly?: boolean },
    reasonAgainst: (needed: string) => string | undefined,
  ): Promise<void> {
    const visit = await visitConsole(browser, story.instance);
    const token = await story.instance.token(story.tenant.id, as.roles);
    await signIn(visit, story.instance, token, { looksOnly: as.looksOnly === true });
    await visit.arrive('Accounts');
    visit.complaints.splice(0);
    for (const [path, title, name, needed] of offered) {
      await visit.open(`/console${path}`, title);
      const reason = reasonAgainst(needed);
      if (reason === undefined) await visit.find('button', name);
      else await visit.told(`${name}: ${reason}.`);
      expect(await isOffered(visit, name), `${path} ${name}`).to.equal(reason === undefined);
    }
    await visit.open('/console/access-keys', 'Access keys');
    await visit.find('table', 'Access keys, the latest first');
    await visit.inspect(`roles-${as.roles.join('-').toLowerCase()}${as.looksOnly ? '-looks' : ''}`);
    // What is not offered is not asked for either.
    expect(visit.complaints).to.deep.equal([]);
    await visit.close();
  }

  const isOffered = async ({ page }: ConsoleVisit, name: string): Promise<boolean> =>
    (await page.$(`::-p-aria([name=${JSON.stringify(name)}][role="button"])`)) !== null;

  it('READER is offered nothing that writes, and told why', () =>
    look({ roles: ['READER'] }, (needed) => needed));

  it('OPERATOR is offered what sells and bills, and told whose the rest is', () =>
    look({ roles: ['OPERATOR'] }, (needed) => (needed === ofOperator ? undefined : needed)));

  it('ADMIN is offered all of it', () => look({ roles: ['ADMIN'] }, () => undefined));

  it('ADMIN who signed in to look only is offered nothing', () =>
    look({ roles: ['ADMIN'], looksOnly: true }, () => toLook));

  // spec/beyond.md R555
  it('the list of sessions says what role and session allow', async () => {
    const come = async (role: string, looksOnly = false): Promise<ConsoleVisit> => {
      const visit = await visitConsole(browser, story.instance);
      const token = await story.instance.token(story.tenant.id, [role]);
      await signIn(visit, story.instance, token, { looksOnly });
      await visit.arrive('Accounts');
      return visit;
    };
    await (await come('READER')).close();
    await (await come('OPERATOR', true)).close();
    const visit = await come('ADMIN');
    await visit.open('/console/sessions', 'Sessions');
    await visit.told('READER: read only');
    await visit.told('OPERATOR: read only');
    await visit.told('ADMIN: read and write');
    await visit.inspect('sessions-of-roles');
    await visit.close();
  });

  it('the API decides, whatever a page shows', async () => {
    const visit = await visitConsole(browser, story.instance);
    const token = await story.instance.token(story.tenant.id, ['READER']);
    await signIn(visit, story.instance, token);
    await visit.arrive('Accounts');
    const status = await visit.page.evaluate(`(async () => {
      const session = await (await fetch('/console/session', { method: 'POST' })).json();
      const headers = {
        Authorization: 'Bearer ' + session.accessToken,
        'Content-Type': 'application/json',
      };
      const body = JSON.stringify({ name: 'Mine', roles: ['ADMIN'] });
      return (await fetch('/v1/access-keys', { method: 'POST', headers, body })).status;
    })()`);
    expect(status).to.equal(403);
    await visit.close();
  });
});
