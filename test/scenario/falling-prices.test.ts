import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { addGrant, createWallet, readEntries } from '../support/billing/wallets.js';
import { attribute, meteredByMonth, priceOfEach, row, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** Prices that fall as usage grows: what grants have paid too much of goes back to them, and is no money. */
describe('prices that fall under what grants have paid', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  let accountId = '';
  let serviceId = '';
  let walletId = '';
  beforeEach(async () => {
    // The whole volume of a month at 0.10 up to 1,000, and at 0.08 beyond.
    const volume = { ...tiers([0, 1_000, 0.1], [1_000, null, 0.08]), priceMethod: 'VOLUME' };
    accountId = await story.account('acme');
    serviceId = await story.service('Calls', {
      priceableAttributes: [attribute('api_calls', meteredByMonth)],
      rateCards: [usdCard(row('api_calls', volume))],
    });
    walletId = await createWallet(tenant, accountId);
  });

  const gift = (externalId: string, amount: number, more: object = {}) =>
    addGrant(tenant, walletId, externalId, amount, { kind: 'promotional', ...more });
  const calls = async (count: number) => {
    const message = usage('acme', serviceId, { dimensions: { api_calls: String(count) } });
    await story.send(message);
    return message.externalTransactionId as string;
  };
  /** `draw gift -100 = 400`, after the grants. */
  const moved = async () =>
    (await readEntries(tenant, walletId))
      .filter(({ kind }) => kind !== 'grant')
      .map(
        ({ kind, externalId, amount, balanceAfter }) =>
          `${kind} ${externalId} ${amount} = ${balanceAfter}`,
      );
  const balance = async () =>
    (await tenant.get(`/v1/accounts/${accountId}/balance?currency=USD`).expect(200)).body.balance;
  const creditsOf = async (externalId: string) => {
    const { body } = await tenant.get(`/v1/usage-events/${externalId}`).expect(200);
    const [{ explanation, matches }] = body.ratedTransactions;
    expect(matches).to.equal(true);
    return (explanation.credits ?? []).map(
      ({ externalId: grant, amount }: { externalId: string; amount: string }) =>
        `${grant} ${amount}`,
    );
  };
  const march = async () => {
    const { invoices } = await story.bill('2026-03');
    const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    expect(body.output).to.include({ differenceCount: 0 });
    return invoices.map(
      ({ invoiceType, amount, items }) =>
        `${invoiceType} ${amount}: ${items.map((item) => `${item.description} ${item.amount}`).join(', ')}`,
    );
  };

  // spec/beyond.md R386
  it('give back to a gift what it has paid too much, and no money', async () => {
    await gift('gift', 500);
    // 1,000 at 0.10 = 100; with 10 more 1,010 at 0.08 = 80.80: -19.20; with 100 more 88.80: 8.
    await calls(1_000);
    const falling = await calls(10);
    await calls(100);
    expect(await moved()).to.deep.equal([
      'draw gift -100 = 400',
      'return gift 19.2 = 419.2',
      'draw gift -8 = 411.2',
    ]);
    expect(await creditsOf(falling)).to.deep.equal(['gift -19.2']);
    expect(await march()).to.deep.equal(['Invoice 0: api_calls 88.8, Credits -88.8']);
  });

  it('lower the bill first, and give back what is paid beyond what the usage comes to', async () => {
    await gift('gift', 90);
    // 90 of 100 are paid, 10 are owed; at 80.80 nothing is owed, and 9.20 were paid too much.
    await calls(1_000);
    const falling = await calls(10);
    expect(await moved()).to.deep.equal(['draw gift -90 = 0', 'return gift 9.2 = 9.2']);
    expect(await creditsOf(falling)).to.deep.equal(['gift -9.2']);
    expect(await march()).to.deep.equal(['Invoice 0: api_calls 80.8, Credits -80.8']);
  });

  it('lower the bill alone, where it is the smaller part that grants have paid', async () => {
    await gift('gift', 60);
    await calls(1_000);
    expect(await creditsOf(await calls(10))).to.deep.equal([]);
    expect(await moved()).to.deep.equal(['draw gift -60 = 0']);
    expect(await march()).to.deep.equal(['Invoice 20.8: api_calls 80.8, Credits -60']);
  });

  it('give back to what is used last first', async () => {
    await gift('first', 90, { priority: -1 });
    await gift('second', 50);
    // 100 = 90 + 10; of 19.20 the second gets its 10, the first 9.20.
    await calls(1_000);
    await calls(10);
    expect((await moved()).slice(2)).to.deep.equal([
      'return second 10 = 50',
      'return first 9.2 = 59.2',
    ]);
  });

  it('leave expired what has expired', async () => {
    await gift('gift', 100, { expiresAt: '2026-04-03' });
    await calls(1_000);
    story.travelTo('2026-04-04');
    await calls(10);
    expect(await moved()).to.deep.equal([
      'draw gift -100 = 0',
      'return gift 19.2 = 19.2',
      'expire gift -19.2 = 0',
    ]);
    expect(await march()).to.deep.equal(['Invoice 0: api_calls 80.8, Credits -80.8']);
  });

  it('count what was billed while the wallet was empty', async () => {
    await gift('gift', 50);
    // 500 at 0.10 are paid, 500 are owed: 100 in all. At 80.80 grants have paid 50, which is less.
    await calls(500);
    await calls(500);
    await calls(10);
    expect(await moved()).to.deep.equal(['draw gift -50 = 0']);
    expect(await march()).to.deep.equal(['Invoice 30.8: api_calls 80.8, Credits -50']);
  });

  it('are of all that a service counts in a period', async () => {
    await gift('gift', 200);
    const bothId = await story.service('Both', {
      priceableAttributes: [
        attribute('hours', meteredByMonth),
        attribute('chairs', { ...meteredByMonth, aggregation: 'LAST' }),
      ],
      rateCards: [usdCard(priceOfEach('hours', 1), priceOfEach('chairs', 1))],
    });
    // 110 are drawn for both; 100 of chairs alone come back.
    await story.send(usage('acme', bothId, { dimensions: { hours: '10', chairs: '100' } }));
    await story.send(usage('acme', bothId, { dimensions: { chairs: '0' } }));
    expect(await moved()).to.deep.equal(['draw gift -110 = 90', 'return gift 100 = 190']);
  });

  it('are simulated as they would be', async () => {
    await gift('gift', 500);
    await calls(1_000);
    const message = usage('acme', serviceId, { dimensions: { api_calls: '10' } });
    const { body } = await tenant.post('/v1/usage-events/simulate', { message }).expect(200);
    const [{ amount, explanation }] = body.ratedTransactions;
    expect(amount).to.equal(-19.2);
    expect(explanation.credits).to.have.length(1);
    expect(explanation.credits[0]).to.include({ externalId: 'gift', amount: '-19.2' });
    expect(await moved()).to.deep.equal(['draw gift -100 = 400']);
  });

  describe('and are corrected', () => {
    const cancel = (externalId: string) =>
      tenant.post(`/v1/usage-events/${externalId}/cancel`, { reason: 'A test.' }).expect(200);

    // spec/beyond.md R387
    it('take back what was returned when the charge below zero goes', async () => {
      await gift('gift', 500);
      await calls(1_000);
      await cancel(await calls(10));
      expect(await moved()).to.deep.equal([
        'draw gift -100 = 400',
        'return gift 19.2 = 419.2',
        'draw gift -19.2 = 400',
      ]);
      expect(await march()).to.deep.equal(['Invoice 0: api_calls 100, Credits -100']);
    });

    it('put back what was paid, less what was returned, when the charge before goes', async () => {
      await gift('gift', 500);
      const first = await calls(1_000);
      await calls(10);
      await cancel(first);
      // 10 at 0.10 are left: 19.20 go, 100 come back, and 1 is drawn.
      expect((await moved()).slice(2)).to.deep.equal([
        'draw gift -19.2 = 400',
        'return gift 100 = 500',
        'draw gift -1 = 499',
      ]);
      expect(await march()).to.deep.equal(['Invoice 0: api_calls 1, Credits -1']);
    });

    it('top up no wallet whose balance falls on the way alone', async () => {
      const path = `${external}/wallets/${walletId}`;
      const topUp = { enableDisableTopUp: true, thresholdTopUpAmount: 390, autoTopUpAmount: 50 };
      await tenant.put(path, topUp).expect(200);
      await gift('gift', 500);
      const first = await calls(1_000);
      await calls(10);
      // 419.20 - 19.20 + 100 - 1: below 401 on the way alone.
      await tenant.put(path, { thresholdTopUpAmount: 401 }).expect(200);
      await cancel(first);
      expect(await balance()).to.equal(499);
      const { body } = await tenant.get(`${external}/payments`).expect(200);
      expect(body.data.content).to.deep.equal([]);
    });

    it('bill what was returned and is spent', async () => {
      await gift('gift', 100);
      await calls(1_000);
      const falling = await calls(10);
      // Another service takes the 19.20.
      const other = await story.service('Other');
      await story.send(usage('acme', other, { dimensions: { api_calls: '1920' } }));
      await cancel(falling);
      expect((await moved()).slice(1)).to.deep.equal([
        'return gift 19.2 = 19.2',
        'draw gift -19.2 = 0',
      ]);
      // 100 + 19.20 of usage, of which 100 were given.
      const [invoice = ''] = await march();
      expect(invoice).to.match(/^Invoice 19.2: /);
    });

    it('give back what an invoice would owe of what grants paid after a correction', async () => {
      await gift('gift', 60);
      // 1,000 at 0.10: 60 are paid, 40 are owed.
      const first = await calls(1_000);
      await gift('second', 500);
      // 1,010 at 0.08 = 80.80, -19.20: grants have paid 60, so the bill is lower. With 1,000 more 80 are
      // drawn of the second: 160.80 in all, of which 140 were given.
      await calls(10);
      await calls(1_000);
      await cancel(first);
      // 10 at 0.10 = 1, then 1,010 at 0.08 = 80.80: 79.80 more; all of it is given.
      const entries = await moved();
      expect(entries.at(-1)).to.match(/= 479.2$/);
      expect(await march()).to.deep.equal(['Invoice 0: api_calls 80.8, Credits -80.8']);
    });

    it('come to the same where there are too many changes to be held', async () => {
      const lastSeats = { ...meteredByMonth, aggregation: 'LAST' };
      const seats = (rate: number) => usdCard(priceOfEach('seats', rate));
      const seatsId = await story.service('Seats', {
        priceableAttributes: [attribute('seats', lastSeats)],
        rateCards: [seats(1)],
      });
      await gift('gift', 100);
      // 10, 5, 10 and so on, to 10: +10, then -5 and +5 for 105 times; 10 in the end.
      const said = Array.from({ length: 211 }, (_each, index) => (index % 2 === 0 ? '10' : '5'));
      await story.send(
        ...said.map((count) => usage('acme', seatsId, { dimensions: { seats: count } })),
      );
      expect(await balance()).to.equal(90);
      const cards = `${external}/services/${seatsId}/rate-cards/USD/versions`;
      await tenant.post(cards, { ...seats(2), fromDate: '2026-03-01' }).expect(201);
      const data = { from: '2026-03-01', to: '2026-04-01', reason: 'The price was wrong.' };
      await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
      expect(await balance()).to.equal(80);
      expect(await march()).to.deep.equal(['Invoice 0: seats 20, Credits -20']);
    });
  });
});
