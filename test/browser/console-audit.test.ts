import { expect } from 'chai';
import { external } from '../support/servers/instance.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

describe('the audit in the console', function () {
  this.timeout(120_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let acme: string;
  before(async () => {
    acme = await story.account('acme');
    for (let count = 0; count < 30; count += 1) await story.account(`customer-${count}`);
    await story.tenant.put(`${external}/accounts/${acme}`, { name: 'Acme & Söhne' }).expect(200);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R424
  it('lists who changed what, the newest first, with what changed of it', async () => {
    await visit.click('link', 'Audit');
    await visit.arrive('Audit');
    await visit.find('table', 'Changes, the newest first');
    await visit.told('tester');
    // Names come after rows, and move them.
    await visit.quiet();
    const [details] = await visit.page.$$('::-p-aria([name="2 fields"])');
    // The name, and when it was changed.
    await details?.click();
    await visit.told('Acme & Söhne');
    await visit.told('updated at');
    const [at] = new Date().toISOString().split('T');
    expect(await visit.text()).to.match(new RegExp(`updated at\\s+${at} [\\d:.]+ UTC`));
    await visit.inspect('audit');
  });

  it('tells the story of one record, which leads to it', async () => {
    await visit.open(`/console/audit?entity=account&id=${acme}`, 'Audit');
    await visit.told('1 to 2 of 2');
    // By the name that it had at each time.
    await visit.find('link', 'account acme');
    await visit.click('link', 'account Acme & Söhne');
    await visit.arrive('Acme & Söhne');
  });

  it('is filtered by keyboard, and paged', async () => {
    await visit.open('/console/audit', 'Audit');
    await visit.tabTo('Who');
    await visit.page.keyboard.type('nobody');
    await visit.page.keyboard.press('Enter');
    await visit.told('Nothing was changed like this.');
    expect(visit.page.url()).to.include('actor=nobody');
    await visit.inspect('audit-empty');
    await visit.open('/console/audit?entity=account', 'Audit');
    await visit.told('1 to 25 of 32');
    // spec/beyond.md R551
    await visit.tabTo('What');
    await visit.page.keyboard.type('contract s');
    await visit.page.keyboard.press('Tab');
    await visit.click('button', 'Show');
    await visit.page.waitForFunction('location.search.includes("entity=contractService")');
    await visit.open('/console/audit?entity=account', 'Audit');
    await visit.click('button', 'Next');
    await visit.told('26 to 32 of 32');
  });

  it('says at its place what cannot be asked', async () => {
    await visit.open('/console/audit?entity=nonsense', 'Audit');
    await visit.find('alert', '');
    await visit.told('“What”');
    await visit.checkAccess();
    await visit.shoot('audit-wrong');
    visit.complaints.splice(0);
  });
});
