import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { usage } from '../../support/billing/usage.js';
import { addGrant, createWallet } from '../../support/billing/wallets.js';
import type { ConsoleVisit } from '../../support/servers/console.js';
import { Reader } from '../../support/servers/reader.js';
import { useConsole } from '../../support/servers/use-console.js';
import { every, priceOfEach, subscription, usdCard } from '../../support/story/prices.js';
import { useStory } from '../../support/story/story.js';

/** Whoever is asked by a customer: what the page of an account shows of it, and where that leads. */
// spec/beyond.md R370, R486
describe('the story of support', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let support: Reader;

  /** An account with prices of its own, a discount, an invoice, a wallet, and usage of today. */
  const fillAcme = async (calls: string): Promise<void> => {
    const { tenant } = story;
    const acme = await story.account('acme', { name: 'Acme & Söhne' });
    const seats = await story.service('Plan', subscription('Seats', 31));
    const own = { rateCards: [usdCard(priceOfEach('api_calls', 0.02))] };
    const contract = await story.subscribe(
      acme,
      [
        { serviceId: seats, ...every('Monthly') },
        { serviceId: calls, serviceInstanceId: 'prod', ...own },
      ],
      { startDate: '2026-03-01', number: 'C-1' },
    );
    const adjustments = [
      { accountId: acme, kind: 'discountPercent', value: 10, from: '2026-03-01' },
      { contractId: contract.id, kind: 'minimum', value: 100, currency: 'USD', from: '2041-01-01' },
    ];
    for (const one of adjustments) await tenant.post('/v1/adjustments', one).expect(201);
    await story.bill('2026-03', { accountId: acme });
    await addGrant(tenant, await createWallet(tenant, acme, { title: 'Prepaid' }), 'top-up', 50);
    const hold = { accountId: acme, currency: 'USD', amount: 8, expiresInSeconds: 3_600, key: 'k' };
    await tenant.post('/v1/holds', hold).expect(201);
    const alert = { accountId: acme, measure: 'spend', period: 'Monthly', thresholds: [5, 1_500] };
    await tenant.post('/v1/alerts', { ...alert, name: 'Dear' }).expect(201);
    await story.send(
      usage('acme', calls, {
        externalTransactionId: 'today',
        serviceInstanceId: 'prod',
        eventTimestamp: new Date().toISOString(),
        dimensions: { api_calls: '300' },
      }),
    );
    for (let counted = null; counted === null; await wait(50)) {
      const { body } = await tenant.get(`/v1/alerts?accountId=${acme}`).expect(200);
      counted = body.data[0].counted as unknown;
    }
  };

  before(async () => {
    const calls = await story.service('API calls');
    await fillAcme(calls);
  });
  useConsole(story, (opened) => {
    visit = opened;
    support = new Reader(opened);
  });

  // spec/beyond.md R365, R381, R426, R432, R483, R492
  it('has the whole story of an account two presses after it was found', async () => {
    await support.type('Find accounts', 'acme');
    await visit.page.keyboard.press('Enter');
    await support.reads('1 to 1 of 1');
    // The first press.
    await support.go('Acme & Söhne');
    for (const table of ['What is held', 'Grants of Prepaid', 'Entries of Prepaid', 'Alerts']) {
      await visit.find('table', table);
    }
    await visit.quiet();
    const text = await visit.text();
    // 300 x 0.02 = 6.00, less 10 %: 5.40, which the grant of 50 pays.
    expect(text).to.match(/Balance\s+USD 44\.60\s+Held\s+USD 8\.00\s+Available\s+USD 36\.60/);
    expect(text).to.match(/top-up\s+purchased\s+active\s+USD 50\.00\s+USD 8\.00\s+USD 44\.60/);
    expect(text).to.match(/k\s+open\s+USD 8\.00/);
    expect(text).to.match(
      /at USD 5\.00 and USD 1,500\.00\s+USD 5\.40, past USD 5\.00, next is USD 1,500\.00/,
    );
    await visit.find('meter', 'Dear');
    // spec/beyond.md R517
    for (const happened of [
      'Account Acme & Söhne was made',
      'Contract C-1 was made',
      'Invoice INV-000001 was posted',
      'Alert Dear was triggered',
    ]) {
      expect(text).to.include(happened);
    }
    await visit.inspect('account-wallet');
    // The second: 31.00, less 10 %.
    await support.go('Invoice INV-000001 was posted', 'Invoice INV-000001');
    await support.reads('USD 27.90');
  });

  // spec/beyond.md R483
  it('says what the lines of the account cost, and what was agreed beside that', async () => {
    await support.go('Acme & Söhne');
    await visit.find('table', 'Discounts, minimums, maximums and commitments of the account');
    await support.reads('Percent off', '10 %', 'Minimum', 'USD 100.00');
    await support.press('of the catalog, without an instance');
    await support.reads('Seats: USD 31.00 each');
    await support.press('of this line, prod');
    await support.reads('api_calls: USD 0.02 each', 'of this line, version 1 from');
    // The catalog has a price in this currency, too, which does not hold.
    expect(await visit.text()).to.not.include('USD 0.01');
    await visit.inspect('account-prices');
  });

  it('says what the wallet has paid, by the receipt', async () => {
    await support.go('Receipt', 'Receipt of today');
    await support.reads('USD 5.40', 'top-up');
  });

  // spec/beyond.md R483
  it('finds what happened of a kind, and the way to what it is about', async () => {
    const only = async (kind: string): Promise<void> => {
      await support.go('Accounts');
      await support.go('Acme & Söhne');
      await support.type('Kind', kind);
      // What is shown until then goes away, and the focus with it.
      const listed = visit.page.waitForResponse((one) => one.url().includes('kind='));
      await support.press('Show');
      await listed;
      await visit.quiet();
    };
    await only('Workflows');
    await support.press('Workflow billing-run was completed');
    await support.reads('completed');
    await visit.quiet();
    await only('Alerts');
    expect(visit.page.url()).to.match(/\?kind=alert$/);
    await support.press('Alert Dear was triggered');
    await visit.page.waitForFunction(`location.href.endsWith('?kind=alert#alerts')`);
    await only('Changes');
    await visit.inspect('account-changes');
    await support.go('Contract C-1 was made', 'Audit');
    await support.reads('contract C');
    await only('Corrections');
    await support.reads('Nothing of this kind has happened to this account in these days.');
  });
});
