import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { keptFiles } from '../support/servers/downloads.js';
import { holdRequests, refuseRequests } from '../support/servers/intercepted.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

const march = '/console/usage?from=2026-03-01&to=2026-04-01';

/** What was used, what became of it, and what could not be rated. */
describe('usage in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;

  before(async () => {
    await story.account('acme', { name: 'Acme' });
    await story.account('beta', { name: 'Beta' });
    const calls = await story.service('Calls');
    const at = (day: number, api_calls: number, account = 'acme') =>
      usage(account, calls, {
        eventTimestamp: `2026-03-${String(day).padStart(2, '0')}T10:00:00Z`,
        dimensions: { api_calls: String(api_calls) },
      });
    // At 0.01 each: 1 to 9 March are 1.00 to 9.00, of Beta half of it on even days.
    const days = Array.from({ length: 9 }, (_, index) => at(index + 1, (index + 1) * 100));
    await story.send(
      ...days,
      at(2, 100, 'beta'),
      at(4, 200, 'beta'),
      usage('gamma', calls, { externalTransactionId: 'early-1' }),
      usage('gamma', calls, { externalTransactionId: 'early-2' }),
    );
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R586
  it('says of which part a month or week is, and adds up no quantities of different units', async () => {
    await visit.open('/console/usage?from=2026-03-05&to=2026-03-08&bucket=month', 'Usage');
    await visit.told('2026-03-01, from 2026-03-05 on, before 2026-03-08');
    // 5, 6 and 7 March.
    await visit.told('USD 18.00');
    expect(await visit.text()).to.not.include('Quantity');
    await visit.inspect('usage-cut');
    await visit.open(`${march}&bucket=month&groupBy=attribute`, 'Usage');
    await visit.find('columnheader', 'Quantity');
    expect(await visit.text()).to.not.include('before 2026-04-01');
  });

  // spec/beyond.md R586
  it('says of totals that are shown until others are read what these were asked for', async () => {
    const { page } = visit;
    const isOther = (url: string) => url.includes('from=2026-03-05');
    await visit.open(`${march}&bucket=month`, 'Usage');
    await visit.told('USD 48.00');
    const release = await holdRequests(page, ({ url }) => isOther(url));
    const asked = page.waitForRequest((request) => isOther(request.url()));
    await page.evaluate(`const from = document.querySelector('input[name=from]');
      from.value = '2026-03-05';
      from.form.requestSubmit();`);
    await asked;
    const begins = '(() => document.querySelector("main tbody th, main tbody td").textContent)()';
    expect(await page.evaluate(begins)).to.equal('2026-03-01');
    await release();
    // Of 5 to 9 March.
    await visit.told('2026-03-01, from 2026-03-05 on');
    await visit.told('USD 35.00');
  });

  // spec/beyond.md R368
  it('shows what became of all events, and totals as a chart and a table', async () => {
    await visit.open(march, 'Usage');
    await visit.told('13 events were accepted in all.');
    await visit.find('table', 'Totals in USD');
    // 2 March: Acme 2.00 and Beta 1.00.
    await visit.told('USD 3.00');
    await visit.inspect('usage');
  });

  it('is read bar by bar with arrow keys, and a bar leads to its events', async () => {
    await visit.open(march, 'Usage');
    await visit.find('table', 'Totals in USD');
    const { page } = visit;
    await visit.tabTo('Amounts in USD: arrow keys go from bar to bar');
    await page.keyboard.press('ArrowRight');
    await visit.told('2026-03-01: USD 1.00');
    await page.keyboard.press('End');
    await visit.told('2026-03-31: nothing');
    for (let day = 31; day > 9; day -= 1) await page.keyboard.press('ArrowLeft');
    await visit.told('2026-03-09: USD 9.00');
    await page.keyboard.press('ArrowLeft');
    await visit.told('2026-03-08: USD 8.00');
    await page.keyboard.press('Enter');
    await visit.arrive('Usage events');
    await visit.told('1 to 1 of 1');
    await visit.told('2026-03-08 10:00:00 UTC');
    await visit.inspect('usage-events');
  });

  // spec/beyond.md R453
  it('shows the days that were chosen alone, by keyboard and by the pointer', async () => {
    const { page } = visit;
    const chart = 'Amounts in USD: arrow keys go from bar to bar';
    await visit.open(march, 'Usage');
    await visit.find('table', 'Totals in USD');
    await visit.tabTo(chart);
    for (let day = 1; day <= 2; day += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.down('Shift');
    for (let more = 0; more < 4; more += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.up('Shift');
    await visit.told('2026-03-02 to 2026-03-06 are chosen: Enter shows these alone.');
    await visit.shoot('usage-chosen');
    await page.keyboard.press('Enter');
    await visit.told('2026-03-02 to 2026-03-06; the highest is 2026-03-04: USD 6.00.');
    expect(page.url()).to.include('from=2026-03-02&to=2026-03-07&bucket=day');
    // Of five bars the second to the third, from right to left: hours, since two days have enough.
    const slider = await page.waitForSelector(`::-p-aria([role="slider"])`);
    const { x = 0, y = 0, width = 0, height = 0 } = (await slider?.boundingBox()) ?? {};
    // Few bars are as wide as if there were twelve.
    const middleOf = (bar: number) => x + (width * (bar + 0.5)) / 12;
    await page.mouse.move(middleOf(2), y + height / 2);
    await page.mouse.down();
    await page.mouse.move(middleOf(1), y + height / 2, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(`location.search === '?from=2026-03-03&to=2026-03-05&bucket=hour'`);
    await visit.told('2026-03-04 10:00');
    expect(await visit.text()).to.not.include('2026-03-05 10:00');
    await page.goBack();
    await visit.told('2026-03-05');
  });

  // spec/beyond.md R453
  it('groups by any dimension', async () => {
    await visit.open(`${march}&bucket=month`, 'Usage');
    await visit.find('table', 'Totals in USD');
    await visit.tabTo('Or by dimension');
    await visit.page.keyboard.type('api_calls');
    await visit.page.keyboard.press('Enter');
    await visit.find('list', 'Colours');
    // 100 calls of Acme and as many of Beta are 2.00; nothing else comes to as much.
    await visit.told('USD 2.00');
    expect(visit.page.url()).to.include('dimension=api_calls');
    await visit.inspect('usage-by-dimension');
    expect(await visit.text()).to.not.include('None of these events has a dimension');
    // spec/beyond.md R557
    await visit.open(`${march}&bucket=month&dimension=API_calls`, 'Usage');
    await visit.told('None of these events has a dimension “API_calls”.');
    await visit.inspect('usage-by-no-dimension');
    await visit.open('/console/usage?dimension=api_calls&from=2020-01-01', 'Usage');
    await visit.quiet();
    await visit.checkAccess();
    await visit.shoot('usage-by-dimension-long');
  });

  it('groups by account, whose names it knows', async () => {
    await visit.open(`${march}&groupBy=account&bucket=month`, 'Usage');
    await visit.find('link', 'Acme');
    // 1 + ... + 9 = 45; Beta 1 + 2 = 3.
    await visit.told('USD 45.00');
    await visit.told('USD 3.00');
    // spec/beyond.md R590: the chart is as high as 45 + 3.
    await visit.told('USD 48.00');
    await visit.inspect('usage-grouped');
  });

  it('filters by keyboard, and says what to do where there is nothing', async () => {
    await visit.open('/console/usage?from=2020-01-01&to=2020-02-01', 'Usage');
    await visit.told('Nothing was rated in this time.');
    await visit.inspect('usage-none');
    await visit.tabTo('By');
    await visit.page.keyboard.type('Week');
    await visit.tabTo('Show');
    await visit.page.keyboard.press('Enter');
    await visit.page.waitForFunction(`location.search.includes('bucket=week')`);
  });

  it('exports the charges of the time that it shows', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'durabill-console-'));
    const devtools = await visit.page.createCDPSession();
    await devtools.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      browserContextId: visit.context.id ?? '',
      downloadPath: folder,
    });
    await visit.open(march, 'Usage');
    // Totals push the button down while somebody points at it.
    await visit.quiet();
    await visit.click('button', 'Export the charges as CSV');
    const name = 'charges-2026-03-01-2026-04-01.csv';
    await visit.told(`${name} is there.`);
    await visit.quiet();
    expect(await keptFiles(folder, 1)).to.deep.equal([name]);
    expect(await readFile(join(folder, name), 'utf8')).to.match(/# end, rows: 11\r?\n$/);
    await rm(folder, { recursive: true });
  });

  // spec/beyond.md R369
  it('lists rejected events with what to mend, and tries them again', async () => {
    await visit.open('/console/usage', 'Usage');
    await visit.click('link', 'Look at rejected events');
    await visit.arrive('Rejected events');
    await visit.find('link', 'early-1');
    await visit.inspect('usage-rejected');
    await visit.click('button', 'Try again');
    await visit.told(' is still rejected for ACCOUNT_NOT_FOUND: ');
    await story.account('gamma', { name: 'Gamma' });
    // Its row goes, and what came of it stays.
    await visit.click('button', 'Try again');
    await visit.told(' is rated.');
    // spec/beyond.md R493
    await visit.click('button', 'What trying all again comes to');
    await visit.told('Would be rated');
    await visit.shoot('usage-retry-tried');
    await visit.click('button', 'Try the event again');
    await visit.told('1 tried again: 1 rated.');
    await visit.told('No event is rejected here.');
    // spec/beyond.md R435
    expect(await visit.text()).to.not.match(/\b0\b/);
    await visit.checkAccess();
    await visit.shoot('usage-retried');
  });

  // spec/beyond.md R435
  it('offers nothing to be done to 0 events', async () => {
    await visit.open('/console/usage/events?status=rejected', 'Rejected events');
    await visit.told('No event is rejected here.');
    expect(await visit.text()).to.not.include('Try all');
    await visit.inspect('usage-none-rejected');
    await visit.open('/console/usage', 'Usage');
    await visit.find('figure', 'What became of all events');
    expect(await visit.text()).to.not.include('Look at rejected events');
  });

  // spec/beyond.md R510
  it('finds an event by the id that its sender has for it, or that we have', async () => {
    const { page } = visit;
    const { body } = await story.tenant.get('/v1/usage-events/early-2').expect(200);
    await visit.open('/console/usage', 'Usage');
    await visit.click('link', 'Find an event');
    await visit.arrive('Usage events');
    await visit.tabTo('Event id');
    await page.keyboard.type('early-1');
    await page.keyboard.press('Enter');
    await visit.told('1 to 1 of 1');
    await visit.find('link', 'early-1');
    expect(page.url()).to.include('externalTransactionId=early-1');
    await visit.open('/console/usage/events', 'Usage events');
    await visit.tabTo('Event id');
    await page.keyboard.type(String(body.id));
    await page.keyboard.press('Enter');
    await visit.find('table', 'The event that has this id here');
    await visit.find('link', 'early-2');
    await visit.inspect('usage-event-found');
    await visit.open('/console/usage/events?externalTransactionId=nonsense', 'Usage events');
    await visit.told('No event of this choice has this id.');
  });

  // spec/beyond.md R510
  it('says that no event has an id only where there is none', async () => {
    const { page } = visit;
    const id = newId();
    const path = `/console/usage/events?externalTransactionId=${id}`;
    const isIt = ({ url }: { url: string }) => url.endsWith(`/v1/usage-events/${id}`);
    const broken = { code: 'INTERNAL_ERROR', message: 'It is broken.' };
    const mend = await refuseRequests(page, isIt, 500, broken);
    await visit.open(path, 'Usage events');
    await visit.told('It is broken.');
    expect(await visit.text()).to.not.include('No event has this id');
    await visit.inspect('usage-event-fault');
    await mend();
    await visit.tabTo('Try again');
    await page.keyboard.press('Enter');
    await visit.told('No event has this id, neither of its sender nor of ours.');
    visit.complaints.splice(0);
  });

  // spec/beyond.md R510
  it('lists the events of an account by what people know it by', async () => {
    await visit.open('/console/usage/events', 'Usage events');
    await visit.tabTo('Account');
    await visit.page.keyboard.type('beta');
    await visit.page.keyboard.press('Enter');
    await visit.told('1 to 2 of 2');
    await visit.told('Of Beta alone.');
    await visit.inspect('usage-events-of-account');
    await visit.click('link', 'beta');
    await visit.arrive('Beta');
    await visit.click('link', 'Usage events');
    await visit.told('1 to 2 of 2');
  });

  it('says at its place which filter the API does not know', async () => {
    await visit.open('/console/usage/events?code=NONSENSE', 'Usage events');
    await visit.find('alert', '');
    await visit.checkAccess();
    await visit.shoot('usage-wrong');
    visit.complaints.splice(0);
  });
});
