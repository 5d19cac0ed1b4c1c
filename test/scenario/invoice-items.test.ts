import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import {
  attribute,
  every,
  flatPrice,
  meteredByMonth,
  priceOfEach,
  row,
  usdCard,
} from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

const graduated = tiers([0, 100, 0], [100, 300, 0.5], [300, null, 10, 'flat']);

/** A tier in short: bounds, volume, rate, amount. */
const short = (item: object): unknown[] =>
  (item as { tiers: Record<string, unknown>[] }).tiers.map((tier) => [
    tier['tierMinVal'],
    tier['tierMaxVal'],
    tier['volume'],
    tier['ratePerUnit'],
    tier['flatRate'],
    tier['amount'],
  ]);

describe('the items of an invoice', () => {
  const story = useStory({ forEachTest: true });
  beforeEach(async () => {
    await story.account('acme');
  });

  it('show what each tier has charged, metered over the month and event by event', async () => {
    const serviceId = await story.service('Calls', {
      priceableAttributes: [
        attribute('Calls', { ...meteredByMonth, label: 'API calls' }),
        attribute('Jobs'),
      ],
      rateCards: [usdCard(row('Calls', graduated), row('Jobs', graduated))],
    });
    for (let sent = 0; sent < 3; sent += 1) {
      await story.send(usage('acme', serviceId, { dimensions: { Calls: '120', Jobs: '120' } }));
    }
    const { invoices: [draft] = [] } = await story.preview('2026-03');
    const [invoice] = (await story.bill('2026-03')).invoices;
    const [calls = {}, jobs = {}] = invoice?.items ?? [];
    // 360 calls on one counter: 100 free, 200 at 0.5, 60 for 10 once.
    expect(calls).to.include({ description: 'Calls', unit: 'API calls', amount: 110, volume: 360 });
    expect(short(calls)).to.deep.equal([
      [0, 100, 100, 0, false, 0],
      [100, 300, 200, 0.5, false, 100],
      [300, null, 60, 10, true, 10],
    ]);
    // Jobs begin anew with each event: three times 100 free and 20 at 0.5.
    expect(jobs).to.include({ description: 'Jobs', unit: 'Jobs', amount: 30, volume: 360 });
    expect(short(jobs)).to.deep.equal([
      [0, 100, 300, 0, false, 0],
      [100, 300, 60, 0.5, false, 30],
    ]);
    expect(draft?.items.map(short)).to.deep.equal([short(calls), short(jobs)]);
  });

  it('show the charged days, and the tiers of the whole period', async () => {
    const seats = attribute('Seats', { isProration: true });
    const serviceId = await story.service('Plan', {
      serviceType: 'Subscription',
      priceableAttributes: [seats, attribute('Setup')],
      rateCards: [usdCard(row('Seats', graduated), flatPrice('Setup', 5))],
    });
    const accountId = await story.account('globex');
    const priceableAttributes = [{ ...seats, dimensionValText: '200' }];
    await story.subscribe(accountId, [{ serviceId, ...every('Monthly'), priceableAttributes }], {
      startDate: '2026-03-16',
    });
    const [invoice] = (await story.bill('2026-03')).invoices;
    const [ofSeats = {}, ofSetup = {}] = invoice?.items ?? [];
    // 100 free and 100 at 0.5 are 50; 16 of 31 days of it 25.806...
    expect(ofSeats).to.deep.include({
      amount: 25.81,
      unit: 'Seats',
      proration: { days: 16, of: 31, text: '16 of 31 days' },
    });
    expect(short(ofSeats)).to.deep.equal([
      [0, 100, 100, 0, false, 0],
      [100, 300, 100, 0.5, false, 50],
    ]);
    expect(ofSetup).to.deep.include({ amount: 5, proration: null, tiers: [] });
  });

  // spec/beyond.md R16, R17
  it('of what is paid out are on credit notes, with numbers of their own and no due date', async () => {
    const paid = (usageType: string) => priceOfEach(usageType, 1, { usageType });
    const serviceId = await story.service('Both', {
      priceableAttributes: [attribute('Charge'), attribute('Payout')],
      rateCards: [usdCard(paid('Charge'), paid('Payout'))],
    });
    await story.account('globex');
    const dimensions = { Charge: '3', Payout: '2' };
    await story.send(...['acme', 'globex'].map((name) => usage(name, serviceId, { dimensions })));
    const bill = await story.bill('2026-03');
    const invoices = bill.invoices as unknown as Record<string, unknown>[];
    const found = invoices.map(({ invoiceNo, invoiceType, amount, dueDate }) => [
      invoiceNo,
      invoiceType,
      amount,
      dueDate !== null,
    ]);
    expect(found).to.have.deep.members([
      ['INV-000001', 'Invoice', 3, true],
      ['INV-000002', 'Invoice', 3, true],
      ['CN-000001', 'Credit Note', 2, false],
      ['CN-000002', 'Credit Note', 2, false],
    ]);
  });
});
