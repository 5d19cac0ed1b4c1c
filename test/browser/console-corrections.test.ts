import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { holdRequests } from '../support/servers/intercepted.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Usage was wrong: what the account would pay, what was corrected, and where the charges part. */
describe('corrections in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let acme: string;
  let calls: string;
  const at = (id: string, day: string, api_calls: string) =>
    usage('acme', calls, {
      externalTransactionId: id,
      eventTimestamp: `${day}T10:00:00Z`,
      dimensions: { api_calls },
    });

  /** Writes another number of calls into the event that a receipt mends. */
  const write = async (api_calls: string) => {
    await visit.tabTo('What it should have said, as JSON');
    const said = String(await visit.page.evaluate('document.activeElement.value'));
    await visit.page.evaluate('document.activeElement.select()');
    await visit.page.keyboard.sendCharacter(
      said.replace(/"api_calls": "[^"]*"/, `"api_calls": "${api_calls}"`),
    );
  };
  const amendTo = async (api_calls: string) => {
    await write(api_calls);
    await visit.tabTo('What amending it changes');
    await visit.page.keyboard.press('Enter');
  };
  const openMending = async (id: string) => {
    await visit.open(`/console/receipts/${id}`, `Receipt of ${id}`);
    await visit.tabTo('Mend it: amend or cancel');
    await visit.page.keyboard.press('Enter');
    await visit.tabTo('Reason, which the correction says');
    await visit.page.keyboard.type('Read twice.');
  };
  /** Events that come out different, and what they come to before and after. */
  const figuresOf = async (): Promise<string[]> => {
    const names = ['Events that come out different', 'Before', 'After'];
    await visit.told(names[0] ?? '');
    const lines = (await visit.text()).split('\n');
    return names.map((name) => lines[lines.indexOf(name) + 1] ?? '');
  };

  before(async () => {
    acme = await story.account('acme', { name: 'Acme & Söhne' });
    await story.account('beta', { name: 'Beta' });
    calls = await story.service('Calls');
    // At 0.01 each: 3.00 and 1.00.
    await story.send(at('first', '2026-03-10', '300'), at('second', '2026-03-11', '100'));
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  it('says how to correct where nothing was', async () => {
    await visit.open('/console/usage', 'Usage');
    await visit.click('link', 'Corrections');
    await visit.arrive('Corrections');
    await visit.told('Nothing was corrected.');
    await visit.inspect('corrections-none');
  });

  // spec/beyond.md R381
  it('shows the next invoice of an account, and that nothing is to be billed', async () => {
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await visit.tabTo('Next invoice');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Next invoice');
    await visit.find('table', 'Items of the draft in USD');
    await visit.told('USD 4.00');
    await visit.inspect('next-invoice');
    await visit.open('/console/accounts?q=beta', 'Accounts');
    await visit.click('link', 'Beta');
    await visit.click('link', 'Next invoice');
    await visit.told('Nothing is to be billed now.');
    await visit.inspect('next-invoice-none');
  });

  // spec/beyond.md R382
  it('shows a correction by keyboard: before and after, and where charges part', async () => {
    const message = at('first', '2026-03-10', '250');
    const { body: event } = await story.tenant.get('/v1/usage-events/first').expect(200);
    await story.tenant
      .post(`/v1/usage-events/${event.id}/amend`, { message, reason: 'Sent in the wrong unit.' })
      .expect(200);
    await visit.open('/console/receipts/first', 'Receipt of first');
    await visit.tabTo('Corrections of this event');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Corrections');
    await visit.find('table', 'Corrections, the newest first');
    await visit.inspect('corrections');
    await visit.tabTo('Sent in the wrong unit.');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Sent in the wrong unit.');
    // 250 instead of 300 at 0.01.
    for (const said of ['USD 3.00', 'USD 2.50', '-USD 0.50', 'They part at']) {
      await visit.told(said);
    }
    await visit.tabTo('Both charges of first, side by side');
    await visit.page.keyboard.press('Enter');
    await visit.find('heading', 'Before');
    await visit.inspect('correction');
    // spec/beyond.md R484
    await visit.open('/console/receipts/first', 'Receipt of first');
    await visit.find('link', 'Sent in the wrong unit.');
    await visit.told('not yet');
    await visit.tabTo('What the correction changed, side by side');
    await visit.page.keyboard.press('Enter');
    for (const said of ['They part at', '-USD 0.50']) await visit.told(said);
    await visit.inspect('receipt-corrected');
    await visit.open(`/console/accounts/${acme}/next-invoice`, 'Next invoice');
    // 2.50 and 1.00.
    await visit.told('USD 3.50');
  });

  // spec/beyond.md R427
  it('shows what a content would come to beside that content alone', async () => {
    const { page } = visit;
    await openMending('second');
    const isAmendment = ({ url }: { url: string }) => url.endsWith('/amend');
    const release = await holdRequests(page, isAmendment);
    await amendTo('10');
    await visit.told('Working…');
    await write('1000');
    expect(visit.requested.filter((url) => isAmendment({ url }))).to.have.length(1);
    await release();
    await page.waitForFunction(`!document.body.innerText.includes('Working…')`);
    expect(await visit.text()).to.not.match(/Events that come out different|\nAmend it\n/);
    await write('10');
    // 10 instead of 100 at 0.01.
    expect(await figuresOf()).to.deep.equal(['1', 'USD 1.00', 'USD 0.10']);
    expect(await visit.text()).to.match(/\nAmend it\n/);
  });

  // spec/beyond.md R427
  it('amends and cancels an event from its receipt by keyboard, and says before what it does', async () => {
    await openMending('second');
    await visit.inspect('receipt-mend');
    await amendTo('many');
    await visit.told("must be a decimal number of at most 38 digits, not 'many'");
    await visit.checkAccess();
    await visit.shoot('receipt-mend-wrong');
    visit.complaints.splice(0);
    await amendTo('200');
    // 200 instead of 100 at 0.01.
    expect(await figuresOf()).to.deep.equal(['1', 'USD 1.00', 'USD 2.00']);
    await visit.inspect('receipt-mend-tried');
    await visit.tabTo('What canceling it changes');
    await visit.page.keyboard.press('Enter');
    await visit.told('Cancel it');
    await visit.tabTo('Amend it');
    await visit.page.keyboard.press('Enter');
    await visit.told('It was amended.');
    // What canceling the charges of before would have come to says nothing of the new ones.
    expect(await visit.text()).to.not.include('Cancel it');
    await visit.tabTo('What canceling it changes');
    await visit.page.keyboard.press('Enter');
    expect(await figuresOf()).to.deep.equal(['1', 'USD 2.00', 'USD 0.00']);
    await visit.tabTo('Cancel it');
    await visit.page.keyboard.press('Enter');
    await visit.told('It is canceled.');
    await visit.inspect('receipt-canceled');
    await visit.tabTo('What the correction came to');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Read twice.');
    await visit.told('-USD 2.00');
  });

  // spec/beyond.md R465
  it('offers nothing to rate again where no charge comes out different, and says so', async () => {
    const { page } = visit;
    const dryRun = async (reason: string): Promise<void> => {
      await visit.tabTo('Reason, which the correction says');
      await page.keyboard.type(reason);
      await visit.tabTo('Show what would change');
      await page.keyboard.press('Enter');
    };
    const chooseMarch = async (): Promise<void> => {
      await visit.tabTo('Usage from');
      await page.keyboard.type('03012026');
      await visit.tabTo('Before');
      await page.keyboard.type('04012026');
    };
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await visit.tabTo('Rate again');
    await page.keyboard.press('Enter');
    await visit.arrive('Rate again');
    await visit.find('link', 'Acme & Söhne');
    await chooseMarch();
    await dryRun('Once more.');
    await visit.arrive('Dry run: rating 2026-03-01 to before 2026-04-01 again');
    await visit.told('No charge comes out different: there is nothing to correct.');
    expect(await visit.text()).to.not.include('Rate it again');
    await visit.inspect('rate-again-same');
    await visit.open('/console/usage/rate-again?from=2020-03-01&to=2020-04-01', 'Rate again');
    await dryRun('Long ago.');
    await visit.told('Nothing was rated in this time.');
    await visit.open('/console/usage/rate-again', 'Rate again');
    await chooseMarch();
    await visit.tabTo('Account, by its id or number');
    await page.keyboard.type('nobody');
    await dryRun('Mistyped.');
    await visit.told('This did not work');
    await visit.told("'nobody'");
    await visit.checkAccess();
    await visit.shoot('rate-again-wrong');
    const absent = '00000000-0000-4000-8000-000000000000';
    await visit.open(`/console/usage/rate-again/${absent}`, 'Rating again');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    visit.complaints.splice(0);
  });

  it('shows every charge of a correction whose long messages make its pages short', async () => {
    const note = 'x'.repeat(900_000);
    for (let number = 0; number < 12; number += 1) {
      await story.send({ ...at(`long-${number}`, '2026-04-02', '100'), note });
    }
    await story.tenant
      .post(`${external}/services/${calls}/rate-cards/USD/versions`, {
        currency: 'USD',
        fromDate: '2026-04-01',
        rows: [{ priceDimName: 'api_calls', label: 'API calls', ...tiers([0, null, 0.02]) }],
      })
      .expect(201);
    const data = { from: '2026-04-01', to: '2026-05-01', reason: 'Twice as dear.' };
    const { body } = await story.tenant
      .post('/v1/workflows/rerate-usage/execute', { data })
      .expect(200);
    await visit.open(`/console/usage/corrections/${body.output.correctionId}`, 'Twice as dear.');
    const seen = new Set<string>();
    const status = /(\d+) to (\d+) of 12/;
    for (let last = 0; last < 12;) {
      await visit.told(`${last + 1} to `);
      const text = await visit.text();
      for (const [, id = ''] of text.matchAll(/Both charges of (long-\d+)/g)) seen.add(id);
      last = Number(status.exec(text)?.[2]);
      if (last < 12) await visit.click('button', 'Next');
    }
    expect([...seen].sort()).to.deep.equal(
      Array.from({ length: 12 }, (_each, number) => `long-${number}`).sort(),
    );
  });

  it('says what is not there', async () => {
    const absent = '00000000-0000-4000-8000-000000000000';
    await visit.open(`/console/usage/corrections/${absent}`, 'Correction');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    await visit.shoot('correction-wrong');
    await visit.open(`/console/accounts/${absent}/next-invoice`, 'Next invoice');
    await visit.told('There is nothing here');
    visit.complaints.splice(0);
  });
});
