import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { keptFiles } from '../support/servers/downloads.js';
import { external } from '../support/servers/instance.js';
import { attribute, every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** The PDF before the CSV. */
const byEnding = (a: string, b: string): number =>
  Number(b.endsWith('pdf')) - Number(a.endsWith('pdf'));

/** Somebody asks why an invoice is what it is; the console answers, down to the event. */
describe('invoices and receipts in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;

  before(async () => {
    const acme = await story.account('acme', { name: 'Acme & Söhne' });
    const calls = await story.service('Calls', meteredService);
    const seats = await story.service('Plan', subscription('Seats', 31));
    const jobs = await story.service('Jobs', {
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
    await story.subscribe(acme, [{ serviceId: seats, ...every('Monthly') }, calls, jobs], {
      startDate: '2026-03-01',
    });
    const wallet = { title: 'Prepaid', accountId: acme, currency: 'USD' };
    const { body } = await story.tenant.post(`${external}/wallets`, wallet).expect(201);
    await story.tenant
      .post(`/v1/wallets/${body.id as string}/grants`, {
        externalId: 'welcome',
        amount: 15,
        kind: 'promotional',
      })
      .expect(201);
    await story.tenant
      .post('/v1/adjustments', {
        accountId: acme,
        kind: 'discountPercent',
        value: 10,
        from: '2026-03-01',
      })
      .expect(201);
    // The first 1,000 are free, then 0.02 up to 10,000.
    await story.send(
      usage('acme', calls, { externalTransactionId: 'first', dimensions: { api_calls: '900' } }),
      usage('acme', calls, { externalTransactionId: 'second', dimensions: { api_calls: '1100' } }),
      usage('acme', jobs, { externalTransactionId: 'job-1', dimensions: { jobs: '10' } }),
      usage('nobody', calls, { externalTransactionId: 'lost' }),
    );
    await story.bill('2026-03');
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R366
  it('lists invoices and finds one by its number', async () => {
    await visit.open('/console/invoices', 'Invoices');
    await visit.find('link', 'INV-000001');
    await visit.told('1 to 1 of 1');
    // spec/beyond.md R526
    await visit.find('table', 'Invoices, the latest first');
    await visit.find('columnheader', 'Period');
    await visit.told('2026-03-01 to 2026-03-31');
    // spec/beyond.md R541
    for (const name of ['Dated from', 'Dated until']) await visit.find('Date', name);
    await visit.find('columnheader', 'Dated');
    // spec/beyond.md R563
    for (const name of ['Period from', 'Period until']) await visit.find('Date', name);
    await visit.inspect('invoices');
    await visit.open('/console/invoices?periodFromDate=2026-04-01', 'Invoices');
    await visit.told('No invoice is of this choice.');
    await visit.open('/console/invoices?periodFromDate=2026-03-31', 'Invoices');
    await visit.find('link', 'INV-000001');
    // Exports know no period.
    expect(await visit.text()).to.not.include('as CSV');
    await visit.open('/console/invoices?q=nothing', 'Invoices');
    await visit.told('No invoice is of this choice.');
    await visit.inspect('invoices-none');
    // spec/beyond.md R452
    await visit.open('/console/invoices?status=paid', 'Invoices');
    await visit.told('No invoice is of this choice.');
    await visit.tabTo('Status');
    await visit.page.keyboard.type('Open');
    await visit.tabTo('Show');
    await visit.page.keyboard.press('Enter');
    await visit.find('link', 'INV-000001');
    expect(visit.page.url()).to.match(/\/console\/invoices\?status=open$/);
    // Exports know no status.
    expect(await visit.text()).to.not.include('as CSV');
  });

  it('shows an invoice by keyboard, each item with what it is made of', async () => {
    await visit.open('/console/invoices', 'Invoices');
    await visit.find('link', 'INV-000001');
    await visit.tabTo('INV-000001');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Invoice INV-000001');
    await visit.find('link', 'Acme & Söhne');
    // Calls: 1,000 x 0.02 = 20, less 10 % = 18, of which the grant pays 15: 3.
    // Jobs: 2 x 1.5 x 10 = 30, less 10 % = 27. Seats: 31, less 10 % = 27.90. 57.90 in all.
    await visit.inspect('invoice');
    expect(await visit.text()).to.include('USD 57.90');
    await visit.tabTo('API calls');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('API calls');
    await visit.told('The parts come to');
    await visit.find('link', 'second');
    await visit.inspect('item-usage');
  });

  it('shows the charge of a subscription with the days that were charged', async () => {
    await visit.open('/console/invoices', 'Invoices');
    await visit.click('link', 'INV-000001');
    await visit.click('link', 'Seats');
    await visit.arrive('Seats');
    await visit.told('2026-03-01 to 2026-03-31');
    // spec/beyond.md R434: 31 is the price, 27.90 is left of it.
    await visit.told('That is the price. What discounts took of it');
    await visit.told('Total after discounts: USD 27.90');
    await visit.inspect('item-seats');
  });

  // spec/beyond.md R436
  it('keeps the PDF of an invoice, and all invoices as CSV; and leads to who changed one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'durabill-console-'));
    const devtools = await visit.page.createCDPSession();
    await devtools.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      browserContextId: visit.context.id ?? '',
      downloadPath: folder,
    });
    await visit.open('/console/invoices', 'Invoices');
    await visit.click('button', 'All of them as CSV');
    await visit.told('invoices.csv is there.');
    await visit.click('link', 'INV-000001');
    await visit.click('button', 'Download the PDF');
    await visit.told('.pdf is there.');
    const files = await keptFiles(folder, 2);
    expect(files).to.have.length(2);
    const [pdf = '', csv = ''] = files.map((name) => join(folder, name)).sort(byEnding);
    expect((await readFile(pdf)).subarray(0, 5).toString()).to.equal('%PDF-');
    expect(await readFile(csv, 'utf8')).to.match(/INV-000001.*# end, rows: 1\r?\n$/s);
    await rm(folder, { recursive: true });
    await visit.click('link', 'Who changed it');
    await visit.arrive('Audit');
    await visit.told('INV-000001');
    await visit.inspect('invoice-audit');
  });

  // spec/beyond.md R434
  it('says of an item that takes something off the others what it is', async () => {
    await visit.open('/console/invoices', 'Invoices');
    await visit.click('link', 'INV-000001');
    await visit.click('link', 'Discount');
    await visit.arrive('Discount');
    // 10 % of 20 + 30 + 31.
    await visit.told('What discounts took of the other items: -USD 8.10, rounded once.');
    expect(await visit.text()).to.not.include('0 charges');
    await visit.inspect('item-discount');
  });

  // spec/beyond.md R367
  it('shows why an event costs what it costs: tiers, discounts, grants, and computes it again', async () => {
    await visit.open('/console/receipts/second', 'Receipt of second');
    await visit.find('image', 'The counter went from 900 to 2,000');
    await visit.find('table', 'Tiers of API calls');
    await visit.inspect('receipt');
    const text = await visit.text();
    // 100 of the free tier and 1,000 at 0.02 = 20, less 10 % = 18; the grant pays 15 of it.
    for (const said of ['2,000', 'USD 20.00', 'USD 18.00', 'welcome', 'USD 15.00']) {
      expect(text).to.include(said);
    }
    await visit.tabTo('Compute again');
    await visit.page.keyboard.press('Enter');
    await visit.told('the same, to the last digit.');
    await visit.checkAccess();
    await visit.shoot('receipt-computed');
  });

  it('shows the steps of pricing logic', async () => {
    await visit.open('/console/receipts/job-1', 'Receipt of job-1');
    await visit.find('table', 'Pricing logic, step by step');
    expect(await visit.text()).to.include('Twice the price');
    await visit.inspect('receipt-steps');
  });

  it('says why an event has no charge, and what is not there', async () => {
    await visit.open('/console/receipts/lost', 'Receipt of lost');
    await visit.told('This event has no charge');
    await visit.inspect('receipt-rejected');
    await visit.open('/console/receipts/unknown', 'Receipt');
    await visit.told('There is nothing here');
    await visit.open('/console/invoices/00000000-0000-4000-8000-000000000000', 'Invoice');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    expect(visit.complaints.every((text) => text.includes('404'))).to.equal(true);
    visit.complaints.splice(0);
  });

  // spec/beyond.md R384
  it('credits an item by keyboard, and voids the note and the invoice', async () => {
    const { page } = visit;
    const reason = async (text: string, how = 'credit or void'): Promise<void> => {
      await visit.tabTo(`Mend it: ${how}`);
      await page.keyboard.press('Enter');
      await visit.tabTo('Reason, which the document says');
      await page.keyboard.type(text);
    };
    await visit.open('/console/invoices?q=INV-000001', 'Invoices');
    await visit.click('link', 'INV-000001');
    await visit.arrive('Invoice INV-000001');
    await visit.find('link', 'Seats');
    await reason('Six seats too many.');
    // spec/beyond.md R435
    expect(await visit.text()).to.not.include('USD 0.00 were credited');
    await visit.tabTo('Credit');
    await page.keyboard.type('Seats');
    // spec/beyond.md R544
    const refusal = 'only 31.00 of the item';
    await visit.tabTo('Amount, without tax');
    await page.keyboard.type('40');
    await visit.tabTo('What the credit comes to');
    await page.keyboard.press('Enter');
    await visit.told(refusal);
    await visit.shoot('invoice-credit-refused');
    await visit.tabTo('Amount, without tax');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await visit.told('Write the amount as a number first.');
    expect(await visit.text()).to.not.include(refusal);
    visit.complaints.splice(0);
    await page.keyboard.type('7.90');
    await visit.tabTo('What the credit comes to');
    await page.keyboard.press('Enter');
    await visit.told('Open then');
    // 57.90 less 7.90.
    expect(await visit.text()).to.match(
      /In all\s+USD 7\.90\s+Open now\s+USD 57\.90\s+Open then\s+USD 50\.00/,
    );
    await visit.inspect('invoice-credit');
    await visit.tabTo('Make the credit note');
    await page.keyboard.press('Enter');
    await visit.told('CN-000001 credits USD 7.90.');
    await visit.find('table', 'Credit notes against it');
    // 57.90 less 7.90.
    await visit.told('USD 50.00');
    expect(await visit.text()).to.match(/Credited\s+USD 7\.90\s+Open\s+USD 50\.00/);
    const items = await page.evaluate('document.querySelector("select[name=itemId]").textContent');
    expect(items).to.match(/Seats: USD\s31\.00, of which USD\s7\.90 is credited/);
    await visit.checkAccess();
    await visit.shoot('invoice-credited');
    await visit.click('button', 'What voiding it does');
    await visit.find('alert', '');
    await visit.shoot('invoice-void-refused');
    visit.complaints.splice(0);
    await visit.click('link', 'CN-000001');
    await visit.arrive('Credit Note CN-000001');
    // spec/beyond.md R572
    await visit.find('link', 'INV-000001');
    await visit.find('button', 'Download the PDF');
    await visit.quiet();
    expect(await visit.text()).to.not.include('What changed since the invoice before');
    await visit.inspect('credit-note');
    await visit.click('link', 'Seats');
    await visit.told('The item that it credits was not credited with more than it charges.');
    await visit.find('link', 'The item of INV-000001');
    expect(await visit.text()).to.not.include('The parts come to USD 0.00');
    await visit.inspect('item-credited');
    await visit.page.goBack();
    await visit.arrive('Credit Note CN-000001');
    await reason('It was right.', 'void');
    await visit.tabTo('What voiding it does');
    await page.keyboard.press('Enter');
    await visit.find('button', 'Void it');
    await visit.tabTo('Void it');
    await page.keyboard.press('Enter');
    await visit.told('Void: It was right.');
    await visit.find('link', 'its invoice');
    await visit.open('/console/invoices?q=INV-000001', 'Invoices');
    await visit.click('link', 'INV-000001');
    await visit.arrive('Invoice INV-000001');
    await visit.find('link', 'Seats');
    await reason('A wrong price.');
    await visit.tabTo('What voiding it does');
    await page.keyboard.press('Enter');
    await visit.find('table', 'What would be billed of its account and period then');
    await visit.inspect('invoice-void-tried');
    await visit.find('button', 'Void it');
    await visit.tabTo('Void it');
    await page.keyboard.press('Enter');
    await visit.told('Void: A wrong price.');
    await visit.find('link', 'bill them again');
    await visit.inspect('invoice-void');
    // spec/beyond.md R543
    expect(await visit.text()).to.match(/Payment\s+–/);
    await visit.open('/console/invoices?status=void&q=INV', 'Invoices');
    await visit.find('link', 'INV-000001');
    expect(await visit.text()).to.match(/INV-000001[^]*Void\s+\S+\s+–/);
    await page.goBack();
    await visit.find('link', 'bill them again');
    // spec/beyond.md R468
    await visit.tabTo('bill them again');
    await page.keyboard.press('Enter');
    await visit.arrive('Billing');
    await visit.find('link', 'Bill all accounts');
    await visit.tabTo('Show what would be billed');
    await page.keyboard.press('Enter');
    await visit.arrive('Dry run of 2026-03-01 to 2026-03-31');
    await visit.find('table', 'Invoices that would be made, beside those before');
    await visit.tabTo('Bill it');
    await page.keyboard.press('Enter');
    await visit.arrive('Run of 2026-03-01 to 2026-03-31');
    await visit.find('table', 'What was billed');
    await visit.told('USD 57.90');
  });
});
