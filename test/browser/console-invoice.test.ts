import { expect } from 'chai';
import { setSeller } from '../../src/access/tenants.js';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** A customer asks why this month is more than the last one. */
describe('an invoice in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;

  before(async () => {
    const { instance, tenant } = story;
    await setSeller(instance.platform.database.platform, tenant.id, {
      name: 'Seller GmbH',
      street: 'Uferweg 7',
      paymentText: 'Within 30 days,\nwithout deduction.',
      iban: 'DE89370400440532013000',
    });
    await story.taxRate('FULL', 19);
    const acme = await story.account('acme', {
      name: 'Acme & Söhne',
      addresses: [{ line1: 'Weg 1', city: 'Ulm' }],
    });
    const price = priceOfEach('api_calls', 0.01, { label: 'API calls', taxCode: 'FULL' });
    const calls = await story.service('Calls', { rateCards: [usdCard(price)] });
    const at = (externalTransactionId: string, day: string, api_calls: string) =>
      usage('acme', calls, {
        externalTransactionId,
        eventTimestamp: `${day}T10:00:00Z`,
        dimensions: { api_calls },
      });
    await story.send(at('february', '2026-02-10', '300'));
    await story.bill('2026-02');
    const seats = await story.service('Plan', subscription('Seats', 31));
    await story.subscribe(acme, [{ serviceId: seats, ...every('Monthly') }], {
      startDate: '2026-03-01',
      number: 'C-1',
    });
    await story.send(at('large', '2026-03-10', '400'), at('small', '2026-03-11', '100'));
    await story.bill('2026-03');
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const open = async (invoiceNo: string) => {
    await visit.open(`/console/invoices?q=${invoiceNo}`, 'Invoices');
    await visit.click('link', invoiceNo);
    await visit.arrive(`Invoice ${invoiceNo}`);
  };

  // spec/beyond.md R543
  it('has the payment status that the list says', async () => {
    await visit.open('/console/invoices?q=INV-000002', 'Invoices');
    await visit.find('link', 'INV-000002');
    expect(await visit.text()).to.match(/Posted\s+\S+\s+Not due/);
    await visit.click('link', 'INV-000002');
    await visit.arrive('Invoice INV-000002');
    await visit.find('table', 'Tax by rate');
    expect(await visit.text()).to.match(/Payment\s+Not due/);
    await visit.click('link', 'Acme & Söhne');
    await visit.told('on invoices: 2 are open');
  });

  // spec/beyond.md R482
  it('says what changed since the one before, and which events cost the most', async () => {
    await open('INV-000002');
    // Calls at 0.01: 3.00 before, 5.00 now; seats are new: 36.00 - 3.00 = 33.00, of 3.00 1,100 %.
    await visit.told('Without tax it is USD 33.00 more (1,100 %) than INV-000001');
    await visit.told('which came to USD 3.00.');
    await visit.find('table', 'Charges that changed, the largest 20 changes at most');
    for (const said of ['USD 31.00', 'USD 2.00']) await visit.told(said);
    await visit.find('table', 'Events that cost the most');
    await visit.inspect('invoice-changes');
    await visit.tabTo('large');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Receipt of large');
    await visit.page.goBack();
    await visit.arrive('Invoice INV-000002');
    await visit.tabTo('INV-000001');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Invoice INV-000001');
    await visit.told('There is none before it of this account, kind and currency.');
  });

  // spec/beyond.md R484
  it('is found by keyboard from the receipt of an event, and so is its item', async () => {
    const { page } = visit;
    await visit.open('/console/receipts/large', 'Receipt of large');
    await visit.find('link', 'INV-000002');
    await visit.inspect('receipt-billed');
    await visit.tabTo('INV-000002');
    await page.keyboard.press('Enter');
    await visit.arrive('Invoice INV-000002');
    await visit.open('/console/receipts/large', 'Receipt of large');
    // The way down to this page, which was opened by its address.
    await visit.find('link', 'Invoice');
    await visit.tabTo('Item');
    await page.keyboard.press('Enter');
    await visit.arrive('API calls');
    await visit.find('link', 'small');
  });

  // spec/beyond.md R485
  it('says what its PDF says: who sends it and who pays, tax by rate, and how', async () => {
    await open('INV-000002');
    await visit.find('region', 'From');
    await visit.find('region', 'To');
    await visit.find('table', 'Tax by rate');
    await visit.find('region', 'How to pay');
    const text = await visit.text();
    for (const said of [
      'Seller GmbH\nUferweg 7',
      'Acme & Söhne\nWeg 1\nUlm',
      'DE89370400440532013000',
    ]) {
      expect(text).to.include(said);
    }
    expect(text).to.include('Within 30 days,\nwithout deduction.');
    // 19 % of 5.00
    expect(text).to.match(/19 %\s+USD 5\.00\s+USD 0\.95/);
    await visit.inspect('invoice-paper');
  });
});
