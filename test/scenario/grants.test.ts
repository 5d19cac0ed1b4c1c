import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { every, flatPrice, priceOfEach, subscriptionOf, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { addGrant, createWallet, readEntries } from '../support/billing/wallets.js';

interface Row {
  readonly explanation: {
    readonly credits: readonly Record<'externalId' | 'amount', string>[];
  };
}

/** Charges that grants pay, from the event to the invoice, and back. */
describe('grants that pay charges', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  let callsId = '';
  let storageId = '';
  beforeEach(async () => {
    await story.taxRate('VAT', 19);
    const taxed = usdCard(priceOfEach('api_calls', 0.01, { taxCode: 'VAT' }));
    callsId = await story.service('Calls', { rateCards: [taxed] });
    storageId = await story.service('Storage');
  });

  const addWallet = (accountId: string, more: object = {}): Promise<string> =>
    createWallet(tenant, accountId, more);
  const grant = (walletId: string, externalId: string, amount: number, more: object = {}) =>
    addGrant(tenant, walletId, externalId, amount, more);
  /** `draw welcome -4 = 6`: kind, grant, amount and the balance after it (spec/beyond.md R264). */
  const ledger = async (walletId: string): Promise<string[]> => {
    let sum = 0;
    return (await readEntries(tenant, walletId)).map(
      ({ kind, externalId, amount, balanceAfter }) => {
        sum = Math.round((sum + amount) * 1e6) / 1e6;
        expect(balanceAfter, 'the sum of the entries').to.equal(sum);
        return `${kind} ${externalId} ${amount} = ${balanceAfter}`;
      },
    );
  };
  const calls = (account: string, count: number, serviceId = callsId) =>
    usage(account, serviceId, { dimensions: { api_calls: String(count) } });
  /** What paid an event's charge, as its explanation has it. */
  const creditsOf = async (externalTransactionId: unknown) => {
    const path = `/v1/usage-events/${externalTransactionId as string}`;
    const { ratedTransactions } = (await tenant.get(path).expect(200)).body;
    const [{ explanation, matches }] = ratedTransactions;
    expect(matches).to.equal(true);
    return (explanation.credits ?? []).map(
      ({ externalId, amount }: { externalId: string; amount: string }) => `${externalId} ${amount}`,
    );
  };

  // spec/beyond.md R265
  it('are used by priority, expiry and age, each for its services', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId);
    await grant(walletId, 'old', 1);
    await grant(walletId, 'new', 1);
    await grant(walletId, 'ends', 1, { expiresAt: '2026-12-01' });
    await grant(walletId, 'first', 1, { priority: -1 });
    await grant(walletId, 'storage', 5, { priority: -2, serviceIds: [storageId] });
    // 250 calls at 0.01 = 2.50: first 1, ends 1, old 0.50.
    const one = calls('acme', 250);
    await story.send(one);
    expect(await creditsOf(one.externalTransactionId)).to.deep.equal([
      'first 1',
      'ends 1',
      'old 0.5',
    ]);
    // 200 calls = 2.00: what is left is 0.50 and 1, so 0.50 is billed.
    const two = calls('acme', 200);
    await story.send(two);
    expect(await creditsOf(two.externalTransactionId)).to.deep.equal(['old 0.5', 'new 1']);
    expect((await ledger(walletId)).slice(5)).to.deep.equal([
      'draw first -1 = 8',
      'draw ends -1 = 7',
      'draw old -0.5 = 6.5',
      'draw old -0.5 = 6',
      'draw new -1 = 5',
    ]);
    const three = calls('acme', 300);
    await story.send(three);
    expect(await creditsOf(three.externalTransactionId)).to.deep.equal([]);
    const four = calls('acme', 300, storageId);
    await story.send(four);
    expect(await creditsOf(four.externalTransactionId)).to.deep.equal(['storage 3']);
  });

  // spec/beyond.md R306
  it('are in a simulation as they would pay, one charge after the other, and nothing is drawn', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId, { balance: 4 });
    await grant(walletId, 'first', 1, { priority: -1 });
    const bodies = [{ message: calls('acme', 300) }, { message: calls('acme', 300) }];
    const { body } = await tenant.post('/v1/usage-events/simulate', bodies).expect(200);
    // Of 5 the first charge takes 1 and 2, the second what is left: 2 of its 3.
    const credits = body.map(
      ({ ratedTransactions: [charge] }: Record<'ratedTransactions', Row[]>) =>
        charge?.explanation.credits.map(({ externalId, amount }) => `${externalId} ${amount}`),
    );
    expect(credits).to.deep.equal([['first 1', 'opening 2'], ['opening 2']]);
    expect(await ledger(walletId)).to.have.length(2);
  });

  it('are those of active wallets of the billed account in the currency of the charge', async () => {
    const accountId = await story.account('acme');
    const other = await story.account('other');
    const [mine, euro, off, theirs] = [
      await addWallet(accountId, { balance: 1 }),
      await addWallet(accountId, { title: 'Euro', currency: 'EUR', balance: 50 }),
      await addWallet(accountId, { title: 'Off', isActive: false, balance: 50 }),
      await addWallet(other, { balance: 50 }),
    ];
    await story.send(calls('acme', 500));
    expect(await ledger(mine)).to.deep.equal(['grant opening 1 = 1', 'draw opening -1 = 0']);
    for (const walletId of [euro, off, theirs]) expect(await ledger(walletId)).to.have.length(1);
    await tenant.put(`${external}/wallets/${off}`, { isActive: true }).expect(200);
    await story.send(calls('acme', 500));
    expect(await ledger(off)).to.deep.equal(['grant opening 50 = 50', 'draw opening -5 = 45']);
  });

  // spec/beyond.md R266
  it('stand on the invoice as items Credits by tax rate, and lower the tax', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId);
    await grant(walletId, 'some', 60);
    // 10,001 calls at 0.01 = 100.01, of which 60 are paid; 3,333 GB = 33.33 without tax, billed.
    await story.send(calls('acme', 10_001));
    await story.send(calls('acme', 3_333, storageId));
    const { invoices, run } = await story.bill('2026-03', { accountId });
    expect(run.problems ?? []).to.deep.equal([]);
    const [invoice] = invoices;
    // Tax: 19 % of 100.01 is 19.00, of 40.01 is 7.60: 11.40 less. 73.34 + 7.60 = 80.94
    expect(invoice).to.include({ amount: 73.34, taxAmount: 7.6, balance: 80.94 });
    const credits = invoice?.items.filter(({ description }) => description === 'Credits') ?? [];
    expect(credits).to.have.length(1);
    expect(credits[0]).to.include({
      amount: -60,
      tax: -11.4,
      chargeType: 'Credits',
      volume: -1,
      ratePerUnit: 60,
      serviceId: null,
    });
    const explained = await story.explain(invoice?.id);
    expect(explained.items.every(({ matches }: { matches: boolean }) => matches)).to.equal(true);
    const named = explained.items.flatMap(
      ({ transactions }: { transactions: { explanation: { credits?: object[] } }[] }) =>
        transactions.flatMap(({ explanation }) => explanation.credits ?? []),
    );
    expect(named).to.deep.equal([
      { walletId, grantId: named[0].grantId, externalId: 'some', kind: 'purchased', amount: '60' },
    ]);
  });

  it('leave nothing where they pay all, and what a void sets free is billed the same again', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId, { balance: 500 });
    // 3 events of 333 calls = 3.33 each, with 19 % tax; 0.6327 of each, 1.9 of the item of 9.99.
    for (let count = 0; count < 3; count += 1) await story.send(calls('acme', 333));
    const first = await story.bill('2026-03', { accountId });
    expect(first.invoices[0]).to.include({ amount: 0, taxAmount: 0, balance: 0 });
    expect(first.invoices[0]).to.include({ paymentStatus: 'Paid' });
    await story.voidInvoice(first.invoices[0]?.id);
    const again = await story.bill('2026-03', { accountId });
    expect(again.lines).to.deep.equal(first.lines);
    expect(again.invoices[0]).to.include({ amount: 0, taxAmount: 0, balance: 0 });
    // 500 - 9.99: usage keeps what has paid it.
    expect((await ledger(walletId)).at(-1)).to.equal('draw opening -3.33 = 490.01');
  });

  // spec/beyond.md R280
  it('have back what a charge drew when it is reversed, and pay the one in its place', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId, { balance: 10 });
    const one = calls('acme', 300);
    const two = calls('acme', 400);
    await story.send(one);
    await story.send(two);
    const path = (id: unknown) => `/v1/usage-events/${id as string}`;
    const reason = 'It was a test.';
    await tenant.post(`${path(one.externalTransactionId)}/cancel`, { reason }).expect(200);
    expect((await ledger(walletId)).slice(1)).to.deep.equal([
      'draw opening -3 = 7',
      'draw opening -4 = 3',
      'return opening 3 = 6',
    ]);
    const message = { ...two, dimensions: { api_calls: '900' } };
    await tenant
      .post(`${path(two.externalTransactionId)}/amend`, { message, reason: 'It was more.' })
      .expect(200);
    expect((await ledger(walletId)).slice(4)).to.deep.equal([
      'return opening 4 = 10',
      'draw opening -9 = 1',
    ]);
    const { invoices } = await story.bill('2026-03', { accountId });
    expect(invoices[0]).to.include({ amount: 0, taxAmount: 0, balance: 0 });
  });

  it('pay recurring charges when a billing run makes them, and have them back when it is void', async () => {
    const accountId = await story.account('acme');
    const walletId = await addWallet(accountId, { balance: 12.5 });
    const seatsId = await story.service('Seats', subscriptionOf(flatPrice('seats', 10)));
    const line = { serviceId: seatsId, startDate: '2026-03-01', ...every('Monthly') };
    await story.subscribe(accountId, [line]);
    const preview = await story.preview('2026-03', { accountId });
    expect(JSON.stringify(preview)).to.include('Credits');
    expect(await ledger(walletId)).to.have.length(1);
    const first = await story.bill('2026-03', { accountId });
    expect(first.invoices[0]?.items.map(({ amount }) => amount)).to.deep.equal([10, -10]);
    expect((await ledger(walletId)).slice(1)).to.deep.equal(['draw opening -10 = 2.5']);
    const explained = await story.explain(first.invoices[0]?.id);
    const [charge] = explained.items[0].charges;
    expect(charge.explanation.credits).to.have.length(1);
    expect(charge.explanation.credits[0]).to.include({ externalId: 'opening', amount: '10' });
    await story.voidInvoice(first.invoices[0]?.id);
    expect((await ledger(walletId)).at(-1)).to.equal('return opening 10 = 12.5');
    const again = await story.bill('2026-03', { accountId });
    expect(again.lines).to.deep.equal(first.lines);
    expect((await ledger(walletId)).at(-1)).to.equal('draw opening -10 = 2.5');
    // 2.50 of the next 10 are left.
    const next = await story.bill('2026-04', { accountId });
    expect(next.invoices[0]?.items.map(({ amount }) => amount)).to.deep.equal([10, -2.5]);
  });
});
