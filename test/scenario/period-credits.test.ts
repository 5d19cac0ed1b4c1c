import { expect } from 'chai';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import { external } from '../support/servers/instance.js';
import { attribute, meteredByMonth, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

// spec/beyond.md R290, R388, R389
describe('what grants have paid of periods that are adjusted', () => {
  const story = useStory({ forEachTest: true, startsOn: '2026-11-24' });
  const { tenant } = story;
  let accountId = '';
  let walletId = '';

  beforeEach(async () => {
    story.travelTo('2026-11-24');
    accountId = await story.account('acme');
    walletId = await createWallet(tenant, accountId);
  });

  const adjust = async (body: object): Promise<void> => {
    const given = { accountId, from: '2026-01-01', currency: 'USD', ...body };
    await tenant.post('/v1/adjustments', given).expect(201);
  };
  const gift = (amount: number, more: object = {}) =>
    addGrant(tenant, walletId, 'gift', amount, { kind: 'promotional', ...more });
  const balance = async (): Promise<number> =>
    (await tenant.get(`${external}/wallets/${walletId}`).expect(200)).body.balance;
  const calls = (day: string, count: number, of: string) =>
    usage('acme', of, {
      eventTimestamp: `2026-${day}T12:00:00Z`,
      dimensions: { api_calls: String(count) },
    });
  const ofOne = () => story.service('Calls', { rateCards: [usdCard(priceOfEach('api_calls', 1))] });
  /** What an event costs is how far the last number of the month has moved. */
  const seatsByMonth = () =>
    story.service('Seats', {
      priceableAttributes: [attribute('api_calls', { ...meteredByMonth, aggregation: 'LAST' })],
      rateCards: [usdCard(priceOfEach('api_calls', 1))],
    });
  const owed = async (month: string): Promise<string[]> => {
    const { invoices } = await story.bill(month.includes('-') ? month : `2026-${month}`);
    for (const { id } of invoices) {
      const { items } = await story.explain(id);
      for (const item of items) expect(item.matches, item.description).to.equal(true);
    }
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    return invoices.map(({ invoiceType, amount }) => `${invoiceType} ${amount}`);
  };

  it('goes back as far as late usage lowers a top-up', async () => {
    const serviceId = await ofOne();
    await adjust({ accountId, kind: 'minimum', value: 50, to: '2026-11-01' });
    await gift(100);
    expect((await story.bill('2026-10')).lines).to.deep.equal([
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

  it('a maximum gives back, and a fall below it draws again', async () => {
    const seats = await seatsByMonth();
    await adjust({ kind: 'maximum', value: 60 });
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
    await adjust({ kind: 'maximum', value: 60 });
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
    await adjust({ kind: 'maximum', value: 60 });
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
    await adjust({ kind: 'maximum', value: 60 });
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
    await adjust({ kind: 'minimum', value: 100, to: '2026-11-01' });
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
    await adjust({ kind: 'minimum', value: 100, to: '2026-11-01' });
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
  it('a minimum and a commitment are lowered by the same usage', async () => {
    const each = await ofOne();
    const until = { from: '2026-11-01', to: '2027-01-01' };
    await adjust({ kind: 'minimum', value: 50, ...until });
    await adjust({ kind: 'commitment', value: 1000, period: 'Yearly', ...until });
    await gift(2000);
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    // 50 and 50 of the minimum, 900 of the commitment.
    expect(await owed('12')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(1000);
    await story.send(calls('11-20', 80, each));
    expect(await balance()).to.equal(920);
    // The minimum of November falls by 50, and the commitment by 30: 80, 50 and 870 are 1000.
    expect(await owed('2027-01')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(1000);
  });

  it('what a shorter maximum has given back a longer one does not give back again', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 100 });
    await adjust({ kind: 'maximum', value: 150, period: 'Quarterly' });
    await gift(1000);
    await story.send(calls('10-02', 200, each), calls('11-02', 200, each));
    expect(await balance()).to.equal(600);
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(700);
    // 100 of November, and of 200 that the quarter came to 50 more: it has cost 150.
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(850);
  });

  it('a grant for one service got back what a maximum of all bills again', async () => {
    const seats = await seatsByMonth();
    await adjust({ kind: 'maximum', value: 60 });
    await gift(100, { serviceIds: [seats] });
    await story.send(calls('10-02', 100, seats));
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(40);
    await story.send(calls('10-20', 0, seats));
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(100);
  });

  it('a grant that has ended got back what a maximum bills again', async () => {
    const seats = await seatsByMonth();
    await adjust({ kind: 'maximum', value: 60 });
    await gift(100, { expiresAt: '2026-12-02' });
    await story.send(calls('10-02', 100, seats));
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    story.travelTo('2026-12-05');
    // Nothing was used in the end, so nobody owes anything.
    await story.send(calls('10-20', 0, seats));
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(0);
  });

  it('what ended unused pays once what a maximum bills again', async () => {
    const each = await ofOne();
    const { body } = await tenant
      .post('/v1/adjustments', {
        accountId,
        from: '2026-01-01',
        currency: 'USD',
        kind: 'maximum',
        value: 60,
        period: 'Quarterly',
      })
      .expect(201);
    await gift(100, { expiresAt: '2026-12-02' });
    await story.send(calls('10-02', 100, each));
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    // Of the 40 that are back 30 are used, and 10 end.
    await story.send(
      calls(
        '11-02',
        30,
        await story.service('Other', { rateCards: [usdCard(priceOfEach('api_calls', 1))] }),
      ),
    );
    story.travelTo('2026-12-05');
    await tenant.put(`/v1/adjustments/${body.id}`, { value: 500 }).expect(200);
    // 130 were used, of which the gift pays its 100.
    expect(await owed('11')).to.deep.equal(['Invoice 30']);
    expect(await balance()).to.equal(0);
  });

  it('a minimum is void after what its lowering gave back was spent', async () => {
    const each = await ofOne();
    await adjust({ kind: 'minimum', value: 50, to: '2026-11-01' });
    await gift(70);
    const october = await story.bill('2026-10');
    await story.send(calls('10-20', 20, each));
    expect(await balance()).to.equal(0);
    const november = await story.bill('2026-11');
    expect(await balance()).to.equal(20);
    await story.send(calls('12-01', 20, each));
    expect(await balance()).to.equal(0);
    await story.voidInvoice(november.invoices[0]?.id);
    await story.voidInvoice(october.invoices[0]?.id);
    // 70 paid 50, 20 and 20, and got 20 back: of the void 50 they have paid 30.
    expect(await balance()).to.equal(30);
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(0);
    await owed('11');
    expect(await owed('12')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(0);
  });

  it('a minimum of the account is paid beside what a maximum of a service gives back', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 100, serviceId: each });
    await adjust({ kind: 'minimum', value: 150 });
    await gift(1000);
    await story.send(calls('10-02', 200, each));
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(850);
  });

  it('maximums of a service and of the account take the same usage off once', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 100, serviceId: each });
    await adjust({ kind: 'maximum', value: 80 });
    await gift(200);
    await story.send(calls('10-02', 200, each));
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(120);
  });

  it('maximums of weeks and months, of months and a cut quarter do so, too', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 100, period: 'Weekly' });
    await adjust({ kind: 'maximum', value: 300, to: '2026-11-15' });
    await adjust({ kind: 'maximum', value: 350, period: 'Quarterly', to: '2026-11-15' });
    // The week from 26 October on is of October, by its first day; 3 weeks come to 300 in the quarter.
    await story.send(
      calls('10-28', 500, each),
      calls('11-04', 300, each),
      calls('11-10', 300, each),
    );
    expect(await owed('10')).to.deep.equal(['Invoice 100']);
    expect(await owed('11')).to.deep.equal(['Invoice 200']);
  });

  it('a maximum of days that are billed already takes nothing off for what is not billed', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 150, period: 'Quarterly' });
    await story.send(calls('10-02', 200, each), calls('11-02', 200, each));
    expect(await owed('10')).to.deep.equal(['Invoice 150']);
    const november = await story.bill('2026-11');
    expect(november.invoices[0]).to.include({ amount: 0 });
    await story.voidInvoice(november.invoices[0]?.id);
    expect(await owed('10')).to.deep.equal([]);
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
  });

  it('what goes back although nothing is billed has the tax of what was charged', async () => {
    await story.taxRate('VAT', 20);
    const taxed = priceOfEach('api_calls', 1, { taxCode: 'VAT' });
    const each = await story.service('Calls', { rateCards: [usdCard(taxed)] });
    await adjust({ kind: 'maximum', value: 100, to: '2026-11-01' });
    const sent = await story.send(calls('10-02', 100, each), calls('10-03', 100, each));
    const october = await story.bill('2026-10');
    expect(october.invoices[0]).to.include({ amount: 100, taxAmount: 20 });
    for (const id of sent) {
      await tenant.post(`/v1/usage-events/${id}/cancel`, { reason: 'A test.' }).expect(200);
    }
    await gift(500);
    await story.send(calls('10-04', 200, each));
    // The gift pays the 100 that October costs, and the 100 that were paid in cash are owed back.
    const november = await story.bill('2026-11');
    expect(november.invoices[0]).to.include({ amount: 100, taxAmount: 20 });
    expect(november.invoices[0]?.invoiceType).to.equal('Credit Note');
    expect(await balance()).to.equal(400);
  });

  it('a grant that had nothing back does not pay again', async () => {
    const seats = await seatsByMonth();
    await adjust({ kind: 'maximum', value: 60, from: '2026-10-01', to: '2026-11-01' });
    await gift(100);
    await story.send(calls('10-02', 100, seats));
    const october = await story.bill('2026-10');
    await story.send(calls('10-20', 0, seats));
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    await addGrant(tenant, walletId, 'first', 200, { kind: 'promotional', priority: -1 });
    await story.send(calls('10-25', 150, seats));
    expect(await owed('12')).to.deep.equal(['Invoice 0']);
    await story.voidInvoice(october.invoices[0]?.id);
    await story.send(calls('10-28', 0, seats));
    // Nothing was used in the end, and both grants are as they were.
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    await owed('11');
    expect(await balance()).to.equal(300);
  });

  it('what a maximum billed again and gave back is explained after a void, too', async () => {
    const each = await ofOne();
    await adjust({ kind: 'maximum', value: 100, to: '2026-11-01' });
    const [most] = await story.send(calls('10-02', 170, each), calls('10-03', 30, each));
    expect(await owed('10')).to.deep.equal(['Invoice 100']);
    await tenant.post(`/v1/usage-events/${most}/cancel`, { reason: 'A test.' }).expect(200);
    await gift(150);
    await story.send(calls('10-04', 150, each), calls('11-04', 500, each));
    // -170, 150 that the gift pays, 20 of the maximum, and 50 that go back to it; and 500 of November.
    const november = await story.bill('2026-11');
    expect(november.invoices[0]).to.include({ amount: 400 });
    expect(await balance()).to.equal(50);
    await story.voidInvoice(november.invoices[0]?.id);
    expect(await balance()).to.equal(0);
    const { items } = await story.explain(november.invoices[0]?.id);
    for (const item of items) expect(item.matches, item.description).to.equal(true);
  });

  it('a maximum of a service counts what a minimum of the account has paid of its usage', async () => {
    const each = await ofOne();
    await adjust({ kind: 'minimum', value: 50, to: '2026-11-01' });
    await adjust({ kind: 'maximum', value: 40, period: 'Quarterly', serviceId: each });
    await gift(50);
    expect(await owed('10')).to.deep.equal(['Invoice 0']);
    // 50 of late usage take the minimum off, which stays paid; 40 of them are owed, and 10 go back.
    await story.send(calls('10-20', 50, each));
    expect(await owed('11')).to.deep.equal(['Invoice 0']);
    expect(await balance()).to.equal(10);
  });
});
