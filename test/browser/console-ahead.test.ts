import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ConsoleVisit } from '../support/servers/console.js';
import { holdRequests, refuseRequests } from '../support/servers/intercepted.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';
import { until } from '../start/workbench.js';

describe('what is read ahead in the console', function () {
  this.timeout(120_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  before(async () => {
    // Three pages of twenty.
    for (let count = 10; count < 60; count += 1) await story.account(`customer-${count}`);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const isAsked = (part: string) => visit.requested.some((url) => url.includes(part));
  const asked = (part: string) => until(() => isAsked(part), 20_000, `${part} is asked for`);

  /** Does something while nothing that the API is asked for is answered. */
  async function withoutAnswers(act: () => Promise<void>): Promise<void> {
    const release = await holdRequests(visit.page, () => true);
    await act();
    await release();
  }

  // spec/beyond.md R611
  it('is the page after the one that is shown, once its button has the focus', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('1 to 20 of 50');
    await visit.quiet();
    expect(isAsked('page=1')).to.equal(false);
    await visit.tabTo('Next');
    await asked('page=1');
    await visit.quiet();
    await withoutAnswers(async () => {
      await visit.page.keyboard.press('Enter');
      await visit.told('21 to 40 of 50');
      await visit.told('customer-30');
    });
    // Who turns one page turns the next.
    await asked('page=2');
    await visit.quiet();
    await withoutAnswers(async () => {
      await visit.page.keyboard.press('Enter');
      await visit.told('41 to 50 of 50');
    });
    await visit.quiet();
    // There is none after the last one.
    expect(isAsked('page=3')).to.equal(false);
  });

  // spec/beyond.md R611
  it('is the page of a link that has the focus', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('1 to 20 of 50');
    await visit.quiet();
    expect(isAsked('/v1/schedules')).to.equal(false);
    await visit.tabTo('Billing');
    await asked('/v1/schedules');
    await asked('/v1/billing-runs');
    await visit.quiet();
    await withoutAnswers(async () => {
      await visit.page.keyboard.press('Enter');
      await visit.arrive('Billing');
      await visit.told('Nothing is billed by itself: there is no schedule.');
      await visit.told('Nothing was billed yet.');
    });
  });

  // spec/beyond.md R611
  it('is also what can be asked for once another answer is there', async () => {
    const serviceId = await story.service('Calls');
    await visit.open('/console/prices', 'Prices');
    await visit.told('Calls');
    await visit.quiet();
    await visit.tabTo('Calls');
    await asked(`${serviceId}/rate-cards`);
    await visit.quiet();
    await withoutAnswers(async () => {
      await visit.page.keyboard.press('Enter');
      await visit.arrive('Calls');
      await visit.find('table', 'Versions in USD, the newest first');
    });
  });

  // spec/beyond.md R611
  it('is read again once it is shown: what has changed since is seen', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('1 to 20 of 50');
    await visit.quiet();
    await visit.tabTo('Prices');
    await asked('/external/services');
    await visit.quiet();
    await story.service('Comes in between');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Prices');
    await visit.told('Comes in between');
  });

  // spec/beyond.md R611
  it('is nothing where it is shown already', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('1 to 20 of 50');
    await visit.quiet();
    // After that it would be read again.
    await pause(5_000);
    visit.requested.splice(0);
    await visit.tabTo('Accounts');
    await visit.tabTo('Invoices');
    await asked('/api/v1/external/invoices');
    expect(isAsked('/api/v1/external/accounts')).to.equal(false);
  });

  // spec/beyond.md R612
  it('leaves a list saying which of its rows are shown, until others are', async () => {
    const { page } = visit;
    await visit.open('/console/accounts?page=1', 'Accounts');
    await visit.told('21 to 40 of 50');
    await visit.quiet();
    await withoutAnswers(async () => {
      await page.evaluate(
        `[...document.querySelectorAll('button')].find(({ innerText }) => innerText === 'Previous').click()`,
      );
      await page.waitForFunction('!location.search.includes("page=1")');
      await visit.told('21 to 40 of 50');
    });
    await visit.told('1 to 20 of 50');
  });

  // spec/beyond.md R611
  it('says nothing of what fails before anybody wants it, and asks again then', async () => {
    const { page } = visit;
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('1 to 20 of 50');
    await visit.quiet();
    let refused = 0;
    const isRefused = ({ url }: { url: string }): boolean => {
      const isAudit = url.includes('/v1/audit');
      if (isAudit) refused += 1;
      return isAudit;
    };
    const away = { code: 'DATABASE_UNAVAILABLE', message: 'Away.' };
    const comeBack = await refuseRequests(page, isRefused, 503, away);
    await visit.tabTo('Audit');
    await until(() => refused === 1, 20_000, 'it is refused');
    // Twice the time after which what is shown is asked for again.
    await pause(4_000);
    expect(refused).to.equal(1);
    expect(await visit.text()).to.not.include('Away.');
    await comeBack();
    await page.keyboard.press('Enter');
    await visit.arrive('Audit');
    await visit.find('table', 'Changes, the newest first');
    expect(visit.complaints.splice(0).every((text) => text.includes('503'))).to.equal(true);
  });
});
