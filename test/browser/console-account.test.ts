import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { every, priceOfEach, subscription, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** An account with much of everything: what its page shows of it, and where that leads. */
describe('an account in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let many: string;
  let acme: string;

  /** An account with prices of its own, a discount, an invoice, a wallet, and usage of today. */
  const fillAcme = async (calls: string): Promise<void> => {
    const { tenant } = story;
    acme = await story.account('acme', { name: 'Acme & Söhne' });
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
    many = await story.account('many', { name: 'Many Ltd.' });
    const calls = await story.service('API calls');
    for (let n = 1; n <= 21; n += 1) {
      await story.subscribe(many, [{ serviceId: calls, serviceInstanceId: `site-${n}` }], {
        number: `M-${n}`,
      });
    }
    await fillAcme(calls);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R481
  it('shows lists page by page, which the address has', async () => {
    const { page } = visit;
    await visit.open(`/console/accounts/${many}`, 'Many Ltd.');
    await visit.told('1 to 20 of 21');
    await visit.inspect('account-many');
    const shown = async (): Promise<string[]> => [
      ...new Set([...(await visit.text()).matchAll(/site-\d+/g)].map(([name]) => name)),
    ];
    await visit.told('site-');
    await visit.quiet();
    const first = await shown();
    expect(first).to.have.length(20);
    await visit.tabTo('Next');
    await page.keyboard.press('Enter');
    await visit.told('21 to 21 of 21');
    await visit.quiet();
    expect(page.url()).to.match(/\?pages=contracts\.1$/);
    const rest = await shown();
    expect(new Set([...first, ...rest]).size).to.equal(21);
    await page.reload();
    await visit.told('21 to 21 of 21');
    await page.goBack();
    await visit.told('1 to 20 of 21');
    // What fits on one page says nothing of pages.
    expect(await visit.text()).to.not.include('1 to 1 of 1');
  });

  // spec/beyond.md R483
  it('shows by keyboard what its lines cost, and what was agreed beside that', async () => {
    const { page } = visit;
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await visit.find('table', 'Discounts, minimums, maximums and commitments of the account');
    for (const said of ['Percent off', '10 %', 'Minimum', 'USD 100.00']) await visit.told(said);
    await visit.tabTo('of the catalog, without an instance');
    await page.keyboard.press('Enter');
    await visit.told('Seats: USD 31.00 each');
    await visit.tabTo('of this line, prod');
    await page.keyboard.press('Enter');
    await visit.told('api_calls: USD 0.02 each');
    await visit.told('of this line, version 1 from');
    // The catalog has a price in this currency, too, which does not hold.
    expect(await visit.text()).to.not.include('USD 0.01');
    await visit.inspect('account-prices');
  });

  // spec/beyond.md R381, R426, R432
  it('shows what a wallet has, holds and has paid, and what an alert has counted', async () => {
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await visit.find('table', 'Grants of Prepaid');
    await visit.find('table', 'Entries of Prepaid');
    await visit.find('table', 'Alerts');
    await visit.quiet();
    const text = await visit.text();
    // 300 x 0.02 = 6.00, less 10 %: 5.40, which the grant of 50 pays.
    expect(text).to.match(/Balance\s+USD 44\.60\s+Held\s+USD 8\.00\s+Available\s+USD 36\.60/);
    expect(text).to.match(/top-up\s+purchased\s+active\s+USD 50\.00\s+USD 8\.00\s+USD 44\.60/);
    expect(text).to.match(/from 5 · 1,500\s+USD 5\.40/);
    await visit.inspect('account-wallet');
    await visit.tabTo('Receipt');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Receipt of today');
  });

  // spec/beyond.md R483
  it('tells what happened to it, of a kind too, with the way to what it is about', async () => {
    const { page } = visit;
    const only = async (kind: string): Promise<void> => {
      await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
      await visit.tabTo('Kind');
      await page.keyboard.type(kind);
      await visit.tabTo('Show');
      await page.keyboard.press('Enter');
      await visit.quiet();
    };
    await only('Invoices');
    expect(page.url()).to.match(/\?kind=invoice$/);
    await visit.click('link', 'Invoice posted INV-000001');
    await visit.arrive('Invoice INV-000001');
    await only('Workflows');
    await visit.click('link', 'Flow completed billing-run');
    await visit.told('completed');
    await only('Alerts');
    await visit.click('link', 'Alert triggered Dear');
    await page.waitForFunction(`location.href.endsWith('?kind=alert#alerts')`);
    await only('Changes');
    await visit.inspect('account-changes');
    await visit.click('link', 'Contract created C-1');
    await visit.arrive('Audit');
    await visit.told('contract C');
    await only('Corrections');
    await visit.told('Nothing of this kind has happened to this account in these days.');
  });
});
