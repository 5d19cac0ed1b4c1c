import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import { readExample } from '../support/billing/workflow-examples.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { useConsole } from '../support/servers/use-console.js';
import { attribute, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** A price is changed, tried on what was used, and put in force. */
describe('prices in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let calls: string;
  let jobs: string;

  before(async () => {
    await story.account('acme', { name: 'Acme & Söhne' });
    calls = await story.service('Calls');
    jobs = await story.service('Jobs', {
      priceableAttributes: [attribute('jobs')],
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [{ name: 'total', label: 'Twice the price', formula: '2 * 1.5 * jobs' }],
        },
      ],
      rateCards: [usdCard(priceOfEach('jobs', 0))],
    });
    const at = (day: string, api_calls: string) =>
      usage('acme', calls, { eventTimestamp: `${day}T10:00:00Z`, dimensions: { api_calls } });
    // 400 at 0.01 each: 4.00 in March.
    await story.send(at('2026-03-10', '300'), at('2026-03-11', '100'));
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  it('lists services and shows one with the versions of its card', async () => {
    await visit.open('/console/prices?q=nothing', 'Prices');
    await visit.told('No service has this in its name or code.');
    await visit.open('/console/prices', 'Prices');
    await visit.find('table', 'Services');
    await visit.told('Nothing was tried yet: a service has the form for it.');
    await visit.inspect('prices');
    await visit.tabTo('Calls');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Calls');
    await visit.find('table', 'Versions in USD, the newest first');
    await visit.told('API calls: USD 0.01 each');
    await visit.find('textbox', 'API calls: unit rate');
    await visit.inspect('prices-service');
  });

  // spec/beyond.md R480
  it('shows which limits are not kept, the charges of an account, and what is made all the same', async () => {
    await visit.open(`/console/prices/${calls}`, 'Calls');
    const { page } = visit;
    await visit.tabTo('API calls: unit rate');
    await page.keyboard.press('End');
    await page.keyboard.type('5');
    await visit.tabTo('Name of this try');
    await page.keyboard.type(': half more');
    await visit.tabTo('Usage from');
    await page.keyboard.type('03012026');
    await visit.tabTo('Before');
    await page.keyboard.type('04012026');
    await visit.tabTo('An account may change by at most (%)');
    await page.keyboard.type('20.5');
    await visit.tabTo('The total may fall by at most (%)');
    await page.keyboard.type('5');
    await visit.tabTo('Run over this time');
    await page.keyboard.press('Enter');
    await visit.find('table', 'Limits that are not kept');
    // The browser's own words, where the page asked before the run had begun.
    visit.complaints.splice(0);
    // 4.00 became 6.00.
    for (const said of ['Change of an account', '20.5 %', '50 %']) await visit.told(said);
    // spec/beyond.md R585: that of other services is not in it.
    expect(await visit.text()).to.match(/Services\s+Calls/);
    await visit.told(
      'Change of an account at most 20.5 %, decrease of the total at most 5 %: not all kept',
    );
    // spec/beyond.md R529
    const chart = 'What they pay and would pay, in USD';
    await visit.find('figure', chart);
    await visit.tabTo(`${chart}: arrow keys go from bar to bar`);
    await page.keyboard.press('ArrowRight');
    await visit.told('Acme & Söhne pays: USD 4.00');
    await page.keyboard.press('ArrowRight');
    await visit.told('Acme & Söhne would pay: USD 6.00');
    await visit.inspect('prices-tried-accounts');
    await visit.tabTo('2 charges of Acme & Söhne, side by side');
    await page.keyboard.press('Enter');
    await visit.arrive('Charges of Acme & Söhne');
    // 300 and 100 at 0.01 and at 0.015.
    for (const said of ['USD 3.00', 'USD 4.50', 'USD 1.50', 'USD 0.50']) await visit.told(said);
    // spec/beyond.md R595
    expect(await visit.text()).to.match(/USD 1\.50[^]*USD 0\.50/);
    await visit.told('Those that would change the most come first.');
    await visit.inspect('prices-tried-charges');
    // As if there were 50,001.
    await asOwner(story.instance.databaseUrl, (client) =>
      client.query(
        `insert into repricing_charge select tenant_id, repricing_id, account_id, first + count,
           50001 - count, '[]' from repricing_charge`,
      ),
    );
    await page.reload();
    await visit.told('They are too many to be sorted: they come as they were rated.');
    await visit.told('USD 1.50');
    visit.complaints.splice(0);
    await page.goBack();
    await visit.find('table', 'Limits that are not kept');
    await visit.tabTo('From');
    await page.keyboard.type('03012026');
    await visit.tabTo('Although limits are not kept; the audit says so');
    await page.keyboard.press('Space');
    await visit.tabTo('Say what is made');
    await page.keyboard.press('Enter');
    await visit.told('It touches 2 events that were rated');
    // spec/beyond.md R547: the card began later, and goes on as it is.
    const path = `${external}/services/${calls}/rate-cards/USD/versions`;
    const [first] = (await story.tenant.get(path).expect(200)).body.content;
    const lastDay = new Date(Date.parse(first.fromDate) - 86_400_000).toISOString().slice(0, 10);
    await visit.told(`It holds until ${lastDay}, when version 1 of ${first.fromDate} takes over`);
    await visit.told('It is the earliest, so that it holds for all days before, too.');
    await visit.inspect('prices-forced');
    // Nothing was made by saying it.
    const { body } = await story.tenant.get(path);
    expect(body.content.map(({ fromDate }: { fromDate: string }) => fromDate)).to.not.include(
      '2026-03-01',
    );
    await visit.told('publish examples/workflows/promote-prices.yaml');
    const definition = await readExample('promote-prices');
    await story.tenant.post('/v1/workflows', { definition }).expect(201);
    await page.reload();
    await visit.find('table', 'Prices in USD, now and then');
    await visit.tabTo('From');
    await page.keyboard.type('03012026');
    await visit.tabTo('Although limits are not kept; the audit says so');
    await page.keyboard.press('Space');
    await visit.tabTo('Say what is made');
    await page.keyboard.press('Enter');
    await visit.find('button', 'Ask somebody else to approve it');
    await visit.tabTo('Ask somebody else to approve it');
    await page.keyboard.press('Enter');
    await visit.told('pending');
    await visit.checkAccess();
    const { body: waiting } = await story.tenant.get('/v1/approvals?status=pending').expect(200);
    expect(waiting.data[0].title).to.include('in force from 2026-03-01 on?');
  });

  // spec/beyond.md R477
  it('says in two places by how many percent an account would pay more', async () => {
    await visit.open(`/console/prices/${calls}`, 'Calls');
    const { page } = visit;
    await visit.tabTo('API calls: unit rate');
    await page.keyboard.press('End');
    // 0.01123456 for 0.01.
    await page.keyboard.type('123456');
    await visit.tabTo('Usage from');
    await page.keyboard.type('03012026');
    await visit.tabTo('Before');
    await page.keyboard.type('04012026');
    await visit.tabTo('External id of a sample account in USD');
    await page.keyboard.type('acme');
    await visit.told('more (12.35 %)');
  });

  // spec/beyond.md R548
  it('lists what was tried page by page, from a service, and leads there from its execution', async () => {
    const data = { name: 'Later', from: '2026-03-01', to: '2026-04-01', changes: [] };
    let executionId = '';
    for (let more = 20; more > 0; more -= 1) {
      const { body } = await story.tenant
        .post('/v1/workflows/reprice/execute', { data })
        .expect(200);
      executionId = body.executionId;
    }
    const { page } = visit;
    await visit.open(`/console/prices/${calls}`, 'Calls');
    await visit.tabTo('What was tried before');
    await page.keyboard.press('Enter');
    await visit.arrive('Prices');
    await visit.find('table', 'Prices that were tried, the newest first');
    await visit.told('1 to 20 of 21');
    await visit.inspect('prices-trials');
    await visit.tabTo('Next');
    await page.keyboard.press('Enter');
    await visit.told('21 to 21 of 21');
    await visit.told(': half more');
    expect(new URL(page.url()).search).to.equal('?tried=1');
    await page.reload();
    await visit.told('21 to 21 of 21');
    await page.goto(`${story.instance.url}/console/workflows/reprice/executions/${executionId}`);
    await visit.tabTo('What accounts would pay with these prices');
    await visit.inspect('execution-of-reprice');
    await page.keyboard.press('Enter');
    await visit.arrive('Later');
  });

  // spec/beyond.md R454
  it('shows formulas, and computes by keyboard what an event with other values would cost', async () => {
    await visit.open(`/console/prices/${jobs}`, 'Jobs');
    const { page } = visit;
    await visit.find('table', 'Main: the charge is what total comes to');
    await visit.told('2 * 1.5 * jobs');
    await visit.tabTo('External id of the account');
    await page.keyboard.type('acme');
    await visit.tabTo('Value of jobs');
    await page.keyboard.type('10');
    await visit.tabTo('Compute it');
    await page.keyboard.press('Enter');
    // 2 x 1.5 x 10.
    await visit.told('Charge of USD 30.00');
    await visit.find('table', 'Pricing logic, step by step');
    await visit.inspect('prices-computed');
    await visit.tabTo('Value of jobs');
    await page.keyboard.type('many');
    // The price of 10 is none of these.
    expect(await visit.text()).to.not.include('Charge of USD 30.00');
    await visit.tabTo('Compute it');
    await page.keyboard.press('Enter');
    await visit.told('It would be rejected.');
    // spec/beyond.md R591
    await visit.find('alert', '');
    await visit.checkAccess();
    await visit.shoot('prices-computed-wrong');
    // Nothing was written.
    const { body } = await story.tenant.get('/v1/usage-events/summary').expect(200);
    expect(body).to.include({ accepted: 2, rejected: 0 });
  });

  it('says at its place what cannot be tried, and what is not there', async () => {
    await visit.open(`/console/prices/${calls}`, 'Calls');
    await visit.find('textbox', 'API calls: unit rate');
    await visit.tabTo('Before');
    await visit.page.keyboard.type('01012020');
    await visit.click('button', 'Run over this time');
    await visit.find('alert', '');
    await visit.checkAccess();
    await visit.shoot('prices-wrong');
    const absent = '00000000-0000-4000-8000-000000000000';
    await visit.open(`/console/prices/tried/${absent}`, 'Prices that were tried');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    visit.complaints.splice(0);
  });

  // spec/beyond.md R597
  it('has a line of fields for each tier', async () => {
    const metered = await story.service('Metered', meteredService);
    await visit.open(`/console/prices/${metered}`, 'Metered');
    await visit.find('textbox', 'API calls: tier 3 unit rate');
    const places = (await visit.page.evaluate(
      `[...document.querySelectorAll('input[name*="rateCardTiers"]')].map((input) =>
        input.name.replace(/\\.[a-zA-Z]+$/, '') + ' at ' + input.getBoundingClientRect().top)`,
    )) as string[];
    const lines = [...new Set(places)].map((place) => place.split(' at '));
    expect(lines.map(([tier]) => tier)).to.deep.equal(
      [0, 1, 2].map((tier) => `rows[0].rateCardTiers[${tier}]`),
    );
    expect(new Set(lines.map(([, top]) => top)).size).to.equal(3);
    await visit.inspect('prices-tiers');
  });

  // spec/beyond.md R531
  it('shows the versions of a card page by page', async () => {
    const { tenant } = story;
    const path = `/api/v1/external/services/${calls}/rate-cards/USD`;
    const { body: card } = await tenant.get(path).expect(200);
    const { body: before } = await tenant.get(`${path}/versions`).expect(200);
    for (let day = 1; day <= 22; day += 1) {
      const fromDate = `2099-01-${String(day).padStart(2, '0')}`;
      const version = { currency: 'USD', fromDate, rows: card.rows };
      await tenant.post(`${path}/versions`, version).expect(201);
    }
    const total = 22 + Number(before.totalElements);
    await visit.open(`/console/prices/${calls}`, 'Calls');
    await visit.told(`1 to 20 of ${total}`);
    await visit.told('2099-01-22');
    await visit.tabTo('Next');
    await visit.page.keyboard.press('Enter');
    await visit.told(`21 to ${total} of ${total}`);
    await visit.told('2099-01-01');
  });
});
