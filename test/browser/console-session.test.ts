import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import type { TestTenant } from '../support/servers/instance.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { holdRequests } from '../support/servers/intercepted.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** One browser has one session, which all of its pages share. */
describe('sessions of the console in several pages', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let other: TestTenant;
  before(async () => {
    other = await story.instance.tenant();
    await story.account('theirs', { name: 'Only of the first tenant' });
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  /** Signs out in another page of the browser, and in there as another tenant. */
  async function changeTenant(): Promise<Page> {
    const page = await visit.context.newPage();
    await page.goto(`${story.instance.url}/console/accounts`);
    await page.waitForSelector(`::-p-aria([name="Accounts"][role="heading"])`);
    await page.evaluate(`fetch('/console/session', { method: 'DELETE' })`);
    await page.goto(`${story.instance.url}/console/sign-in`);
    const field = '::-p-aria([name="Your access key or token"][role="textbox"])';
    await (await page.waitForSelector(field))?.type(other.token);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`::-p-aria([name="Accounts"][role="heading"])`);
    return page;
  }

  // spec/beyond.md R603
  it('does nothing for another tenant that was meant for this one, and shows nothing of it', async () => {
    const { page } = visit;
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('Only of the first tenant');
    await visit.open('/console/access-keys', 'Access keys');
    await visit.tabTo('What it is for');
    await page.keyboard.type('Meant for the first');
    // Whatever the page reads by itself would find the end of its session before its form does.
    const release = await holdRequests(page, ({ method }) => method === 'GET');
    const elsewhere = await changeTenant();
    await page.bringToFront();
    await visit.tabTo('Make it');
    await page.keyboard.press('Enter');
    await visit.told(`tester of the tenant ${other.id} has signed in with this browser since.`);
    await release();
    const { body } = await other.get('/v1/access-keys').expect(200);
    expect(body.data).to.deep.equal([]);
    expect(await visit.text()).to.not.include('Meant for the first');
    await visit.inspect('session-of-another');
    await visit.tabTo('Go on in that tenant');
    await page.keyboard.press('Enter');
    await visit.arrive('Accounts');
    expect(await visit.text()).to.include(other.id);
    expect(visit.complaints.splice(0).every((text) => text.includes('401'))).to.equal(true);
    await elsewhere.close();
  });
});
