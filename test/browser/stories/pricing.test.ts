import { expect } from 'chai';
import { usage } from '../../support/billing/usage.js';
import type { ConsoleVisit } from '../../support/servers/console.js';
import { external } from '../../support/servers/instance.js';
import { Reader } from '../../support/servers/reader.js';
import { useConsole } from '../../support/servers/use-console.js';
import { useStory } from '../../support/story/story.js';

/** The first day of a month, counted from this one. */
function firstOf(months: number): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));
}
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Whoever makes prices: another one is tried on last month, and put in force from the next on. */
// spec/beyond.md R370, R486
describe('the story of pricing', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let pricing: Reader;
  let calls: string;

  before(async () => {
    await story.account('acme', { name: 'Acme & Söhne' });
    calls = await story.service('Calls');
    const at = (eventTimestamp: string, api_calls: string) =>
      usage('acme', calls, { eventTimestamp, dimensions: { api_calls } });
    // 400 at 0.01 each: 4.00 last month.
    const last = firstOf(-1).toISOString();
    await story.send(at(last, '300'), at(last, '100'));
  });
  useConsole(story, (opened) => {
    visit = opened;
    pricing = new Reader(opened);
  });

  // spec/beyond.md R477
  it('slides a price, and learns at once what an account would pay', async () => {
    await pricing.go('Prices');
    await pricing.go('Calls');
    await pricing.reads('API calls: USD 0.01 each');
    await pricing.reach('Slide API calls: unit rate');
    // The price in force, and half of it more: by a keyboard each press is one percent.
    for (let percent = 100; percent < 150; percent += 1) {
      await visit.page.keyboard.press('ArrowRight');
    }
    const typed = `[...document.querySelectorAll('label')].find(
      ({ textContent }) => textContent === 'API calls: unit rate').control.value`;
    expect(await visit.page.evaluate(typed)).to.equal('0.015');
    await pricing.type('External id of a sample account in USD', 'acme');
    // 400 at 0.01 and at 0.015.
    await pricing.reads('USD 4.00 in the books, USD 6.00 with these prices: USD 2.00 more (50 %)');
    await visit.inspect('prices-slid');
    await visit.page.keyboard.type('x');
    await pricing.reads('names no account');
    await visit.checkAccess();
    await visit.shoot('prices-slid-wrong');
    await pricing.type('External id of a sample account in USD', 'acme');
    await pricing.reads('USD 6.00 with these prices');
    visit.complaints.splice(0);
  });

  // spec/beyond.md R380, R479
  it('tries a card on last month, and puts it in force', async () => {
    await pricing.type('API calls: unit rate', 'a lot');
    // spec/beyond.md R516
    await pricing.press('Run over this time');
    const described =
      'document.getElementById(document.activeElement.ariaDescribedByElements[0].id)';
    expect(await visit.page.evaluate(`${described}.textContent`)).to.equal(
      'Write each price as a number first.',
    );
    await visit.checkAccess();
    // Half more was too much; this has more digits than a double.
    await pricing.type('API calls: unit rate', '0.012500000000000001');
    await pricing.type('Name of this try', 'A quarter more');
    await pricing.press('Run over this time');
    await pricing.stop('A quarter more');
    await pricing.reads(`${dayOf(firstOf(-1))} to before ${dayOf(firstOf(0))}`);
    await visit.find('table', 'What the usage costs');
    // 400 x 0.0125 = 5, and what the last digit makes of it is less than the 10 places of amounts.
    await pricing.reads('USD 4.00', 'USD 5.00', '25 %');
    await visit.find('table', 'What accounts would pay');
    await visit.find('link', 'Acme & Söhne');
    await visit.find('table', 'Accounts by change');
    // spec/beyond.md R552
    await pricing.reads(
      'over 50 % less\nover 50 % more',
      'over 50 % less to over 50 % more; the highest is 10 to 25 % more: 1 account',
    );
    await visit.inspect('prices-tried');

    await visit.find('table', 'Prices in USD, now and then');
    const [year = '', month = ''] = dayOf(firstOf(1)).split('-');
    await pricing.type('From', `${month}01${year}`);
    await pricing.press('Say what is made');
    await pricing.reads('Version 2 of the card in USD.');
    await visit.inspect('prices-promoting');
    await pricing.press('Put it in force');
    await pricing.reads(`Put in force from ${dayOf(firstOf(1))} on`);
    await visit.checkAccess();
    await visit.shoot('prices-promoted');
    const { text } = await story.tenant
      .get(`${external}/services/${calls}/rate-cards/USD/versions`)
      .expect(200);
    expect(text).to.include('0.012500000000000001');
  });

  it('finds both versions of the card by time, and what was tried', async () => {
    await pricing.go('Prices');
    // spec/beyond.md R548
    await visit.find('table', 'Prices that were tried, the newest first');
    await visit.find('link', 'A quarter more');
    await pricing.reads(dayOf(firstOf(1)));
    await pricing.go('Calls');
    await pricing.reads('API calls: USD 0.012500000000000001 each');
    await visit.find('figure', 'Versions in USD by time');
    const lastDay = new Date(firstOf(1).getTime() - 86_400_000);
    await pricing.reads(
      `to ${dayOf(lastDay)}, in force today`,
      `Version 2: from ${dayOf(firstOf(1))}`,
    );
    await visit.inspect('prices-versions');
  });
});
