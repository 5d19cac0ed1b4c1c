import { expect } from 'chai';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import { external } from '../support/servers/instance.js';
import { attribute, meteredByMonth, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

// spec/beyond.md R311
describe('adjustments that are made or changed late', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-11-24' });
  const { tenant } = story;

  const adjust = async (body: object): Promise<string> => {
    const given = { from: '2026-01-01', currency: 'USD', ...body };
    return (await tenant.post('/v1/adjustments', given).expect(201)).body.id as string;
  };
  const calls = (day: string, count: number, of: string) =>
    usage('acme', of, {
      eventTimestamp: `2026-${day}T12:00:00Z`,
      dimensions: { api_calls: String(count) },
    });
  const ofOne = () => story.service('Calls', { rateCards: [usdCard(priceOfEach('api_calls', 1))] });
  const bill = async (month: string): Promise<readonly string[]> =>
    (await story.bill(`2026-${month}`)).lines;

  it('bill the period of the run, and none before it', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 1 });
    const draft = (await tenant.get('/v1/accounts/acme/next-invoice').expect(200)).body;
    expect(draft.invoices[0]).to.include({ amount: 1 });
    expect(await bill('11')).to.deep.equal(['Minimum of 1 (2026-11) 2026-11-01..2026-11-30 1']);
    // What comes late of a month that was left out makes nothing of it due.
    await story.send(calls('03-10', 0.5, serviceId));
    expect(await bill('12')).to.deep.equal([
      'Minimum of 1 (2026-12) 2026-12-01..2026-12-31 1',
      'api_calls 2026-03-10..2026-03-10 0.5',
    ]);
    // Who bills March itself asks for it.
    expect(await bill('03')).to.deep.equal(['Minimum of 1 (2026-03) 2026-03-01..2026-03-31 0.5']);
    expect(await bill('03')).to.deep.equal([]);
  });

  it('leave what was billed before they were made', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await story.send(calls('09-10', 150, serviceId), calls('10-10', 150, serviceId));
    await bill('09');
    await bill('10');
    const oneDay = { period: 'Daily', from: '2026-11-30', to: '2026-12-01' };
    await adjust({ accountId, kind: 'minimum', value: 20, ...oneDay });
    await adjust({ accountId, kind: 'minimum', value: 60 });
    await adjust({ accountId, kind: 'maximum', value: 100 });
    await adjust({ accountId, kind: 'commitment', value: 900, period: 'Quarterly' });
    await story.send(calls('09-11', 7, serviceId), calls('11-10', 130, serviceId));
    expect(await bill('11')).to.deep.equal([
      'Maximum of 100 (2026-11) 2026-11-01..2026-11-30 -30',
      'Minimum of 20 (2026-11-30) 2026-11-30..2026-11-30 20',
      'api_calls 2026-09-11..2026-11-10 137',
    ]);
    // The fourth quarter ends with December, and counts whole: 150 of October, 130 - 30 + 20 of November and
    // the 60 of December leave 570.
    expect(await bill('12')).to.deep.equal([
      'Commitment of 900 (2026-10-01 to 2026-12-31) 2026-10-01..2026-12-31 570',
      'Minimum of 60 (2026-12) 2026-12-01..2026-12-31 60',
    ]);
  });

  it('hold a maximum for months that are billed for the first time', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'maximum', value: 100 });
    await story.send(calls('09-10', 150, serviceId), calls('11-10', 30, serviceId));
    expect(await bill('11')).to.deep.equal([
      'Maximum of 100 (2026-09) 2026-09-01..2026-09-30 -50',
      'api_calls 2026-09-10..2026-11-10 180',
    ]);
    await story.send(calls('09-11', 10, serviceId));
    expect(await bill('12')).to.deep.equal([
      'Maximum of 100 (2026-09) 2026-09-01..2026-09-30 -10',
      'api_calls 2026-09-11..2026-09-11 10',
    ]);
  });

  it('correct a period by what was agreed when it was billed', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    const id = await adjust({ accountId, kind: 'minimum', value: 50 });
    const [october = ''] = await story.send(calls('10-10', 70, serviceId));
    expect(await bill('10')).to.deep.equal(['api_calls 2026-10-10..2026-10-10 70']);
    await tenant.put(`/v1/adjustments/${id}`, { value: 80 }).expect(200);
    await tenant.post(`/v1/usage-events/${october}/cancel`, { reason: 'A test.' }).expect(200);
    // October comes to the 50 that were agreed for it, November to the 80.
    expect(await bill('11')).to.deep.equal([
      'Minimum of 50 (2026-10) 2026-10-01..2026-10-31 50',
      'Minimum of 80 (2026-11) 2026-11-01..2026-11-30 80',
      'api_calls (correction of INV-000001) 2026-10-10..2026-10-10 -70',
    ]);
  });

  // spec/beyond.md R388
  it('give back to grants what they have paid of a top-up that late usage lowers', async () => {
    const serviceId = await ofOne();
    const accountId = await story.account('acme');
    await adjust({ accountId, kind: 'minimum', value: 50, to: '2026-11-01' });
    const walletId = await createWallet(tenant, accountId);
    await addGrant(tenant, walletId, 'gift', 100, { kind: 'promotional' });
    const balance = async (): Promise<number> =>
      (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
    expect(await bill('10')).to.deep.equal([
      'Credits 2026-10-01..2026-10-31 -50',
      'Minimum of 50 (2026-10) 2026-10-01..2026-10-31 50',
    ]);
    expect(await balance()).to.equal(50);
    // 20 of late usage are paid at once, and take 20 off the minimum: these go back to the gift.
    await story.send(calls('10-20', 20, serviceId));
    expect(await balance()).to.equal(30);
    const november = await story.bill('2026-11');
    expect(november.lines).to.deep.equal([
      'Credits 2026-10-01..2026-10-31 0',
      'Minimum of 50 (2026-10) 2026-10-01..2026-10-31 -20',
      'api_calls 2026-10-20..2026-10-20 20',
    ]);
    expect(november.invoices[0]).to.include({ amount: 0 });
    expect(await balance()).to.equal(50);
    const { items } = await story.explain(november.invoices[0]?.id);
    for (const item of items) expect(item.matches, item.description).to.equal(true);
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
  });

  describe('of what grants have paid', () => {
    let accountId = '';
    let walletId = '';
    beforeEach(async () => {
      accountId = await story.account('acme');
      walletId = await createWallet(tenant, accountId);
    });
    const gift = (amount: number) =>
      addGrant(tenant, walletId, 'gift', amount, { kind: 'promotional' });
    const balance = async (): Promise<number> =>
      (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
    const seatsByMonth = () =>
      story.service('Seats', {
        priceableAttributes: [attribute('api_calls', { ...meteredByMonth, aggregation: 'LAST' })],
        rateCards: [usdCard(priceOfEach('api_calls', 1))],
      });
    const owed = async (month: string) => {
      const { invoices } = await story.bill(`2026-${month}`);
      expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
      return invoices.map(({ invoiceType, amount }) => `${invoiceType} ${amount}`);
    };

    it('a maximum gives back, and a fall below it draws again', async () => {
      const seats = await seatsByMonth();
      await adjust({ accountId, kind: 'maximum', value: 60 });
      await gift(100);
      await story.send(calls('10-02', 100, seats));
      expect(await owed('10')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(40);
      // -100 gives back 100, though 40 are back; the next run takes 40 of the maximum back.
      await story.send(calls('10-20', 0, seats));
      expect(await balance()).to.equal(140);
      expect(await owed('11')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(100);
    });

    it('a maximum gives back, and a fall above it invents nothing', async () => {
      const seats = await seatsByMonth();
      await adjust({ accountId, kind: 'maximum', value: 60 });
      await gift(500);
      await story.send(calls('10-02', 100, seats));
      expect(await owed('10')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(440);
      // -30 gives back 30; the maximum takes 10 off instead of 40, and what it bills is drawn.
      await story.send(calls('10-20', 70, seats));
      expect(await owed('11')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(440);
      // 30 more are drawn, and come back when the maximum takes 40 off again.
      await story.send(calls('10-25', 100, seats));
      expect(await balance()).to.equal(410);
      expect(await owed('12')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(440);
    });

    it('a maximum lowers what was paid in cash, and bills it again', async () => {
      const seats = await seatsByMonth();
      await adjust({ accountId, kind: 'maximum', value: 60 });
      await gift(30);
      await story.send(calls('10-02', 100, seats));
      // 30 of 60 are given.
      expect(await owed('10')).to.deep.equal(['Invoice 30']);
      await story.send(calls('10-20', 0, seats));
      expect(await owed('11')).to.deep.equal(['Credit Note 30']);
      expect(await balance()).to.equal(30);
    });

    it('a maximum is void, and gives back once what the next run gives back', async () => {
      const seats = await seatsByMonth();
      await adjust({ accountId, kind: 'maximum', value: 60 });
      await gift(100);
      await story.send(calls('10-02', 100, seats));
      const { invoices } = await story.bill('2026-10');
      expect(await balance()).to.equal(40);
      await story.voidInvoice(invoices[0]?.id);
      expect(await balance()).to.equal(0);
      await story.send(calls('10-20', 0, seats));
      expect(await balance()).to.equal(100);
      await owed('10');
      expect(await balance()).to.equal(100);
    });

    it('a minimum that was lowered is void, and what it gave back is not given twice', async () => {
      const each = await ofOne();
      await adjust({ accountId, kind: 'minimum', value: 100, to: '2026-11-01' });
      await gift(500);
      const october = await story.bill('2026-10');
      expect(await balance()).to.equal(400);
      await story.send(calls('10-20', 40, each));
      const november = await story.bill('2026-11');
      // 100 of the minimum, 40 of usage, 40 back.
      expect(await balance()).to.equal(400);
      await story.voidInvoice(november.invoices[0]?.id);
      await story.voidInvoice(october.invoices[0]?.id);
      expect(await balance()).to.equal(460);
      await owed('10');
      await owed('11');
      expect(await balance()).to.equal(400);
    });

    it('the invoice of a minimum is void after a later one has lowered it', async () => {
      const each = await ofOne();
      await adjust({ accountId, kind: 'minimum', value: 100, to: '2026-11-01' });
      await gift(100);
      const october = await story.bill('2026-10');
      await story.send(calls('10-20', 40, each));
      // The gift is empty: 40 of usage, and 40 less of the minimum. It has paid all of the 100.
      expect(await owed('11')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(0);
      await story.voidInvoice(october.invoices[0]?.id);
      expect(await balance()).to.equal(100);
      expect(await owed('10')).to.deep.equal(['Invoice 0']);
      expect(await balance()).to.equal(0);
    });
  });
});
