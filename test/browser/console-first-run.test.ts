import { expect } from 'chai';
import type { ConsoleVisit } from '../support/servers/console.js';
import { asOwner } from '../support/servers/rows.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

describe('the first page of the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true, yearEvents: 2_000 });
  let visit: ConsoleVisit;
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R433
  it('fills a tenant that nobody has used by a button, and says how far it is', async () => {
    await visit.open('/console', 'Accounts');
    await visit.find('heading', 'A year to look at');
    await visit.inspect('first-run');
    await asOwner(story.instance.databaseUrl, async (client) => {
      // No month is billed meanwhile: the year would be done before the page is there again.
      await client.query('begin; lock table invoice in share row exclusive mode');
      await visit.tabTo('Fill it with a year');
      await visit.page.keyboard.press('Enter');
      await visit.told('Usage is ');
      await visit.told('of 2,000.');
      // spec/beyond.md R581
      await visit.told('Acme Inc.');
      expect(await visit.text()).to.not.include('This tenant has no accounts yet.');
      // spec/beyond.md R553
      await visit.page.reload();
      await visit.told('Months are billed: 0 of 12.');
      await visit.find('progressbar', 'Months are billed');
      await visit.checkAccess();
      await visit.shoot('first-run-again');
      await client.query('commit');
    });
    // Months are billed for as long as a machine takes that others use, too.
    const months = '::-p-aria([name="Months are billed"][role="progressbar"])';
    await visit.page.waitForSelector(months, { hidden: true, timeout: 180_000 });
    await visit.told('It is there: look at the usage');
    await visit.told('Acme Inc.');
    await visit.inspect('first-run-done');
    await visit.tabTo('usage');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Usage');
    await visit.told('2,000 events were accepted in all.');
  });

  it('offers it no more then, and says to nobody else what came of it', async () => {
    const address = `${story.instance.url}/console/demo-year`;
    const saidTo = async (token: string): Promise<unknown> => {
      const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
      return response.json();
    };
    expect(await saidTo(story.tenant.token)).to.deep.equal({ status: 'done' });
    const operator = await story.instance.token(story.tenant.id, ['OPERATOR']);
    expect(await saidTo(operator)).to.deep.equal({ status: 'none' });
    const headers = { authorization: `Bearer ${story.tenant.token}` };
    expect((await fetch(address, { method: 'POST', headers })).status).to.equal(409);
    await visit.open('/console/accounts?q=nobody', 'Accounts');
    await visit.told('No account has this');
    expect(await visit.text()).to.not.include('A year to look at');
  });
});
