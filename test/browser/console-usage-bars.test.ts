import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** The chart of usage: from its bars to their events, and what its colours mean. */
describe('bars of usage in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let texts: string;
  let first: string;
  const chart = 'Amounts in USD: arrow keys go from bar to bar';
  /** In both something was used. */
  const hours = 'from=2026-03-08T10:00:00Z&to=2026-03-08T12:00:00Z&bucket=hour';
  const numbers = Array.from({ length: 10 }, (_each, index) => index + 1);

  before(async () => {
    for (const number of numbers) {
      const id = await story.account(`a${number}`, { name: `Account ${number}` });
      if (number === 1) first = id;
    }
    const calls = await story.service('Calls');
    texts = await story.service('Texts');
    const of = (account: string, service: string, at: string, api_calls: number) =>
      usage(account, service, { eventTimestamp: at, dimensions: { api_calls: String(api_calls) } });
    // At 0.01 each: 1.00 of Account 1 to 10.00 of Account 10 in one hour, and texts of 0.50 and 0.70.
    await story.send(
      ...numbers.map((number) =>
        of(`a${number}`, calls, `2026-03-08T10:${number + 10}:00Z`, number * 100),
      ),
      of('a1', texts, '2026-03-08T11:30:00Z', 50),
      of('a1', texts, '2026-03-20T11:30:00Z', 70),
    );
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  /** Opens usage, and presses a key on its chart. */
  const openChart = async (search: string, key: 'Home' | 'End') => {
    await visit.open(`/console/usage?${search}`, 'Usage');
    await visit.find('figure', 'Amounts in USD');
    await visit.tabTo(chart);
    await visit.page.keyboard.press(key);
  };

  // spec/beyond.md R368
  it('lead from an hour to its events, of the service that was chosen', async () => {
    await openChart(`${hours}&service=${texts}`, 'End');
    await visit.told('2026-03-08 11:00: USD 0.50');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Usage events');
    await visit.told('1 to 1 of 1');
    await visit.told('2026-03-08 11:30:00 UTC');
    await visit.inspect('usage-events-of-hour');
    // What was not changed stays: with all days there are two of this service.
    for (const name of ['From', 'Until']) {
      await visit.tabTo(name);
      await visit.page.evaluate('document.activeElement.select()');
      await visit.page.keyboard.press('Backspace');
    }
    await visit.page.keyboard.press('Enter');
    await visit.told('1 to 2 of 2');
  });

  // spec/beyond.md R368
  it('lead from a month to the events of its days that are shown, of the same account', async () => {
    await openChart(`from=2026-03-01&to=2026-03-15&bucket=month&account=${first}`, 'Home');
    // 1.00 and 0.50; those of 20 March are not shown.
    await visit.told('2026-03-01, before 2026-03-15: USD 1.50');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Usage events');
    await visit.told('1 to 2 of 2');
    await visit.told('Of Account 1 alone.');
    expect(visit.page.url()).to.include('from=2026-03-01&to=2026-03-14');
    await visit.click('link', 'Show those of all accounts');
    await visit.told('1 to 11 of 11');
  });

  // spec/beyond.md R592
  it('stand as far apart as their days are, below what all come to', async () => {
    await openChart('from=2026-03-01&to=2026-03-22&bucket=day', 'Home');
    await visit.told('2026-03-01: nothing');
    // 1 + 2 + ... + 10 and 0.50 on 8 March, 0.70 on 20 March.
    await visit.told('In all USD 56.20 for 12 events.');
    expect(await visit.page.evaluate('document.activeElement.ariaValueMax')).to.equal('20');
    await visit.page.keyboard.press('End');
    await visit.told('2026-03-21: nothing');
    await visit.page.keyboard.press('ArrowLeft');
    await visit.told('2026-03-20: USD 0.70');
    await visit.inspect('usage-days-of-nothing');
    // 2,208 hours are too many.
    await visit.open('/console/usage?from=2026-03-01&to=2026-06-01&bucket=hour', 'Usage');
    await visit.told('The chart leaves out when nothing was used');
    await openChart('from=2026-03-20&to=2026-03-21&bucket=day', 'Home');
    // A receipt leads to the price that it tells of.
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Usage events');
    await visit.page.locator('main table a[href*="/receipts/"]').click();
    await visit.find('link', 'Texts');
    await visit.click('link', 'Texts');
    await visit.arrive('Texts');
  });

  // spec/beyond.md R457
  it('tell groups apart, and show what is beyond their colours as one with its exact sum', async () => {
    await openChart('from=2026-03-08&to=2026-03-15&bucket=day&groupBy=account', 'Home');
    await visit.find('list', 'Colours');
    // Of ten the seven largest; 1.00 and 0.50 of Account 1, 2.00 and 3.00 are 6.50.
    await visit.told('3 others USD 6.50');
    const legend = await visit.page.$$eval('::-p-aria(Colours) li', (items) =>
      items.map(({ textContent }) => textContent.trim()),
    );
    const largest = [10, 9, 8, 7, 6, 5, 4].map((number) => `Account ${number}`);
    expect(legend).to.have.members([...largest, '3 others']);
    await visit.inspect('usage-many-groups');
  });

  // spec/beyond.md R458
  it('are said once the cursor rests, and not while it passes', async () => {
    const { page } = visit;
    await openChart(hours, 'Home');
    await visit.told('2026-03-08 10:00: USD 55.00');
    const heard = `document.querySelector('figure [role=status]').textContent`;
    await page.waitForFunction(`${heard} === '2026-03-08 10:00: USD\u00a055.00'`);
    await page.evaluate(`
      window.heard = [];
      new MutationObserver(() => heard.push(${heard})).observe(
        document.querySelector('figure [role=status]'),
        { childList: true, characterData: true, subtree: true });
      for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowRight', 'ArrowLeft', 'End'])
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    `);
    await page.waitForFunction(`heard.length > 0`);
    expect(await page.evaluate('heard')).to.deep.equal(['2026-03-08 11:00: USD\u00a00.50']);
    // Where it is, at once.
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate('document.activeElement.ariaValueText')).to.equal(
      '2026-03-08 10:00',
    );
  });

  // spec/beyond.md R552
  it('say what is highest until the pointer is moved, also one that rests on them', async () => {
    const { page } = visit;
    await visit.open(`/console/usage?${hours}`, 'Usage');
    const figure = await page.waitForSelector('::-p-aria([role="figure"][name="Amounts in USD"])');
    await figure?.scrollIntoView();
    const svg = await figure?.$('svg');
    const { x = 0, y = 0, width = 0, height = 0 } = (await svg?.boundingBox()) ?? {};
    // The second of as many as twelve.
    const [left, top] = [x + (1.5 * width) / 12, y + height / 2];
    const highest = 'the highest is 2026-03-08 10:00: USD 55.00';
    await visit.told(highest);
    await page.mouse.move(left, top);
    await visit.told('2026-03-08 11:00: USD 0.50');
    await page.reload();
    await visit.told(highest);
    await page.mouse.move(left, top);
    await visit.quiet();
    expect(await visit.text()).to.include(highest);
    await page.mouse.move(left + 2, top);
    await visit.told('2026-03-08 11:00: USD 0.50');
  });

  // spec/beyond.md R458
  it('are shown as a table alone, or without it, and so are they by their address', async () => {
    await visit.open('/console/usage?from=2026-03-01&to=2026-03-15', 'Usage');
    await visit.find('figure', 'Amounts in USD');
    await visit.find('table', 'Totals in USD');
    await visit.inspect('usage-both');
    await visit.tabTo('Table');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForSelector('::-p-aria([role="figure"][name="Amounts in USD"])', {
      hidden: true,
    });
    await visit.find('table', 'Totals in USD');
    await visit.inspect('usage-table');
    await visit.tabTo('Show');
    await visit.page.keyboard.press('Enter');
    expect(visit.page.url()).to.include('show=table');
    await visit.open('/console/usage?from=2026-03-01&to=2026-03-15&show=chart', 'Usage');
    await visit.find('figure', 'Amounts in USD');
    await visit.quiet();
    expect(await visit.page.$('::-p-aria([role="table"][name="Totals in USD"])')).to.equal(null);
    await visit.inspect('usage-chart');
  });

  // spec/beyond.md R453
  it('lead by keyboard from hours to their minutes, and from a minute to its events', async () => {
    const { page } = visit;
    await openChart(hours, 'Home');
    await page.keyboard.down('Shift');
    await page.keyboard.press('End');
    await page.keyboard.up('Shift');
    await visit.told('2026-03-08 10:00 to 2026-03-08 11:00 are chosen');
    await page.keyboard.press('Enter');
    await visit.told('2026-03-08 10:00 to 2026-03-08 11:59;');
    expect(new URL(page.url()).searchParams.get('bucket')).to.equal('minute');
    await visit.inspect('usage-by-minute');
    await page.keyboard.press('End');
    for (let minute = 59; minute > 30; minute -= 1) await page.keyboard.press('ArrowLeft');
    await visit.told('2026-03-08 11:30: USD 0.50');
    await page.keyboard.press('Enter');
    await visit.arrive('Usage events');
    await visit.told('1 to 1 of 1');
    expect(new URL(page.url()).searchParams.get('to')).to.equal('2026-03-08T11:31:00Z');
  });

  // spec/beyond.md R459
  it('say of which time there are minutes, and take it', async () => {
    await visit.open('/console/usage?from=2026-03-01&to=2026-03-15&bucket=minute', 'Usage');
    await visit.told('needs “From” and “Before” at most 6 hours apart');
    await visit.checkAccess();
    await visit.shoot('usage-by-minute-wrong');
    for (const [name, at] of [
      // As tables have it.
      ['From', '2026-03-08 10:12'],
      ['Before', '2026-03-08T10:14:00Z'],
    ] as const) {
      await visit.tabTo(name);
      await visit.page.evaluate('document.activeElement.select()');
      await visit.page.keyboard.type(at);
    }
    await visit.page.keyboard.press('Enter');
    // Of Accounts 2 and 3.
    await visit.told('2026-03-08 10:12 to 2026-03-08 10:13;');
    visit.complaints.splice(0);
    // Chosen for many days, it is of the last hours of them.
    await visit.open('/console/usage?from=2026-03-01&to=2026-03-09&bucket=day', 'Usage');
    await visit.find('figure', 'Amounts in USD');
    await visit.page.select('select[name=bucket]', 'minute');
    await visit.click('button', 'Show');
    const hours = 'from=2026-03-08T18%3A00%3A00Z&to=2026-03-09T00%3A00%3A00Z&bucket=minute';
    await visit.page.waitForFunction(`location.search.includes('${hours}')`);
    await visit.told('Nothing was rated in this time.');
  });

  // spec/beyond.md R502
  // spec/beyond.md R592
  it('end before the one of which not all rows are read, and are none where that is the only one', async () => {
    // 1 to 21 calls in each of 20 hours: 420 rows, of which 400 are 19 hours and a row.
    const events = Array.from({ length: 420 }, (_each, index) => {
      const hour = String(Math.floor(index / 21)).padStart(2, '0');
      return usage('a2', texts, {
        eventTimestamp: `2026-06-10T${hour}:30:00Z`,
        dimensions: { api_calls: String(1 + (index % 21)) },
      });
    });
    await story.send(...events);
    await openChart('from=2026-06-10&to=2026-06-11&bucket=hour&dimension=api_calls', 'End');
    await visit.told('The first 399 of 420 rows, before 2026-06-10 19:00.');
    expect(await visit.page.evaluate('document.activeElement.ariaValueText')).to.equal(
      '2026-06-10 18:00',
    );
    // The seven largest of 21 have a colour; 1 to 14 calls are 105, at 0.01 each.
    await visit.told('14 others USD 1.05');
    expect(await visit.text()).to.not.include('In all');
    await visit.inspect('usage-cut');
    const day = 'from=2026-06-10&to=2026-06-11&bucket=day&dimension=api_calls';
    await visit.open(`/console/usage?${day}`, 'Usage');
    // 231 calls in each hour.
    await visit.told('In all USD 46.20.');
  });

  it('have a table of fifty rows, and of all by a press', async () => {
    const minutes = Array.from({ length: 53 }, (_each, minute) => minute);
    await story.send(
      ...minutes.map((minute) => {
        const at = `2026-05-04T10:${String(minute).padStart(2, '0')}:00Z`;
        return usage('a1', texts, { eventTimestamp: at, dimensions: { api_calls: '1' } });
      }),
    );
    const range = 'from=2026-05-04T10:00:00Z&to=2026-05-04T11:00:00Z';
    await visit.open(`/console/usage?${range}&bucket=minute&groupBy=service`, 'Usage');
    await visit.find('table', 'Totals in USD');
    const rows = () => visit.page.$$eval('main table tbody tr', (found) => found.length);
    expect(await rows()).to.equal(50);
    await visit.click('button', 'Show all 53 rows');
    await visit.told('2026-05-04 10:52');
    expect(await rows()).to.equal(53);
    await visit.inspect('usage-all-rows');
  });
});
