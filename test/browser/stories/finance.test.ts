import { expect } from 'chai';
import { usage } from '../../support/billing/usage.js';
import type { ConsoleVisit } from '../../support/servers/console.js';
import { external } from '../../support/servers/instance.js';
import { Reader } from '../../support/servers/reader.js';
import { useConsole } from '../../support/servers/use-console.js';
import { priceOfEach, usdCard } from '../../support/story/prices.js';
import { useStory } from '../../support/story/story.js';

/** Whoever bills: the end of March, in which a price was wrong, and a customer who asks. */
// spec/beyond.md R370, R486
describe('the story of finance', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let finance: Reader;
  let acme: string;

  before(async () => {
    acme = await story.account('acme', { name: 'Acme & Söhne' });
    const calls = await story.service('Calls');
    const price = priceOfEach('api_calls', 0.01, { label: 'API calls' });
    await story.tenant
      .post(`${external}/services/${calls}/rate-cards/USD/versions`, {
        ...usdCard(price),
        fromDate: '2026-01-01',
      })
      .expect(201);
    const at = (id: string, day: string, api_calls: string, account = 'acme') =>
      usage(account, calls, {
        externalTransactionId: id,
        eventTimestamp: `${day}T10:00:00Z`,
        dimensions: { api_calls },
      });
    // At 0.01 each: 1.00 in February, 3.00 and 1.00 in March, and three events that nobody pays.
    await story.send(
      at('february', '2026-02-10', '100'),
      at('large', '2026-03-10', '300'),
      at('small', '2026-03-11', '100'),
      at('lost-in-february', '2026-02-11', '100', 'nobody'),
      at('lost-1', '2026-03-11', '100', 'nobody'),
      at('lost-2', '2026-03-12', '100', 'nobody'),
    );
    await story.bill('2026-02');
  });
  useConsole(story, (opened) => {
    visit = opened;
    finance = new Reader(opened);
  });

  const tryMarch = async (): Promise<void> => {
    await finance.go('Billing');
    await finance.type('First day', '03012026');
    await finance.type('Last day', '03312026');
    await finance.press('Show what would be billed');
    await finance.stop('Dry run of 2026-03-01 to 2026-03-31');
    await visit.find('table', 'Invoices that would be made, beside those before');
  };
  const charged = async () =>
    (await story.tenant.get(`/v1/usage?from=2026-03-01&to=2026-04-01&account=${acme}`)).body.data;

  // spec/beyond.md R378
  it('tries the end of the month, and sees what is left out', async () => {
    await tryMarch();
    await visit.find('table', 'What would be billed');
    await visit.find('link', 'Acme & Söhne');
    // spec/beyond.md R481
    expect(visit.requested.filter((url) => url.includes('/external/accounts/'))).to.deep.equal([]);
    // February's invoice, and March's: 3.00 and 1.00.
    await finance.reads('USD 1.00', 'USD 4.00');
    await visit.find('table', 'What was left out, and why');
    await finance.reads('ACCOUNT_NOT_FOUND');
    await visit.inspect('billing-dry-run');
    await finance.go('2 events', 'Rejected events');
    await finance.reads('1 to 2 of 2', 'lost-1', 'lost-2');
    // spec/beyond.md R504
    expect(await visit.text()).to.not.include('lost-in-february');
    expect(visit.page.url()).to.match(/from=2026-03-01&to=2026-03-31/);
    await finance.go('Billing');
    await visit.find('table', 'Billing runs, the latest first');
    const latest = `document.querySelector('[data-name="Left out"]').textContent`;
    // It may be shown first as it was when it ran.
    await visit.page.waitForFunction(`${latest} === '2'`);
  });

  it('mends the price, which was to be 0.02 since March', async () => {
    await finance.go('Prices');
    await finance.go('Calls');
    await finance.type('API calls: unit rate', '0.02');
    await finance.type('Name of this try', 'As agreed');
    await finance.type('Usage from', '03012026');
    await finance.type('Before', '04012026');
    await finance.press('Run over this time');
    await finance.stop('As agreed');
    // 400 at 0.01 and at 0.02.
    await finance.reads('USD 4.00', 'USD 8.00', '100 %');
    await finance.type('From', '03012026');
    await finance.press('Say what is made');
    await finance.reads('It touches 2 events that were rated');
    await finance.press('Put it in force');
    await finance.reads('Put in force from 2026-03-01');
  });

  // spec/beyond.md R465
  it('rates what was rated with the wrong one again, once a dry run has shown it', async () => {
    await finance.go('rate it again', 'Rate again');
    await finance.type('Before', '04012026');
    await finance.type('Account, by its id or number', 'acme');
    await finance.type('Reason, which the correction says', 'The card had the wrong price.');
    await visit.inspect('rate-again');
    await finance.press('Show what would change');
    await finance.stop('Dry run: rating 2026-03-01 to before 2026-04-01 again');
    await visit.find('table', 'What accounts pay');
    await finance.reads('USD 4.00', 'USD 8.00', 'The card had the wrong price.');
    expect(await visit.text()).to.match(/\nEvents\n2\nThat come out different\n2\n/);
    await visit.inspect('rate-again-dry-run');
    // A dry run writes nothing.
    expect((await charged())[0]).to.include({ amount: 4 });
    await finance.press('Rate it again');
    await finance.stop('Rating 2026-03-01 to before 2026-04-01 again');
    await visit.find('link', 'Each charge before and after');
    await visit.inspect('rated-again');
    expect((await charged())[0]).to.include({ amount: 8 });
    await finance.go('Each charge before and after', 'The card had the wrong price.');
    // That of 300, and how much more both are.
    await finance.reads('USD 3.00', 'USD 6.00', 'USD 4.00', 'They part at');
  });

  it('bills what the second dry run shows', async () => {
    await tryMarch();
    await finance.reads('USD 8.00');
    await finance.go('Bill it', 'Run of 2026-03-01 to 2026-03-31');
    await visit.find('table', 'What was billed');
    await finance.reads('USD 8.00');
    await visit.inspect('billing-run');
    await finance.go('Invoices of this run', 'Invoices');
    await finance.reads('1 to 1 of 1');
    await finance.go('INV-000002', 'Invoice INV-000002');
  });

  // spec/beyond.md R384
  it('credits the customer for an hour in which nothing answered', async () => {
    await finance.press('Mend it: credit or void');
    await finance.type('Reason, which the document says', 'An hour without answers.');
    await finance.type('Credit', 'API');
    await finance.type('Amount, without tax', '0.50');
    await finance.press('What the credit comes to');
    await finance.reads('Open then');
    // 8.00 less 0.50.
    expect(await visit.text()).to.match(
      /In all\s+USD 0\.50\s+Open now\s+USD 8\.00\s+Open then\s+USD 7\.50/,
    );
    await finance.press('Make the credit note');
    await finance.reads('CN-000001 credits USD 0.50.');
    await visit.find('table', 'Credit notes against it');
    expect(await visit.text()).to.match(/Credited\s+USD 0\.50\s+Open\s+USD 7\.50/);
    await visit.checkAccess();
  });

  // spec/beyond.md R367, R482, R484
  it('answers by the receipt why it is more than the month before', async () => {
    // 8.00 - 1.00 = 7.00, of 1.00 700 %.
    await finance.reads('Without tax it is USD 7.00 more (700 %) than INV-000001');
    await finance.go('API calls');
    await finance.reads('The parts come to');
    await finance.go('large', 'Receipt of large');
    await finance.reads('Charge of USD 6.00', 'The card had the wrong price.');
    await finance.press('Compute again');
    await finance.reads('the same, to the last digit.');
    await finance.keepsFocus('Compute again');
    await visit.checkAccess();
  });
});
