import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { addGrant, createWallet } from '../support/billing/wallets.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Much less than the half minute after which a page reads again what it missed. */
const atOnceMs = 10_000;

/** What an account has paid ahead: how much is held of it, and what somebody is told of. */
describe('balances in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let calls: string;

  before(async () => {
    calls = await story.service('Calls');
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  /** An account that has paid 100 ahead; each test has its own. */
  const prepaid = async (externalId: string) => {
    const { tenant } = story;
    const accountId = await story.account(externalId, { name: 'Acme' });
    await story.subscribe(accountId, [calls], { startDate: '2026-01-01' });
    const walletId = await createWallet(tenant, accountId);
    await addGrant(tenant, walletId, `top-up-${externalId}`, 100);
    return { accountId, walletId };
  };
  const hold = async (accountId: string, key: string, amount: number, expiresInSeconds = 3_600) => {
    const asked = { accountId, currency: 'USD', amount, expiresInSeconds, key };
    return (await story.tenant.post('/v1/holds', asked).expect(201)).body;
  };
  /** Pays for 100 calls at 0.01 each, 1.00, from a hold. */
  const capture = (externalId: string, holdId: string) => {
    const message = usage(externalId, calls, { externalTransactionId: `of-${externalId}` });
    return story.tenant.post(`/v1/holds/${holdId}/commit`, { message }).expect(200);
  };
  const open = (accountId: string) => visit.open(`/console/accounts/${accountId}`, 'Acme');
  /** Waits until something is not shown any more; how long that took. */
  const goneIn = async (text: string): Promise<number> => {
    const since = performance.now();
    await visit.page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(text)})`);
    return performance.now() - since;
  };

  // spec/beyond.md R524
  it('shows no hold that has expired, without asking for it all the time', async () => {
    const { accountId } = await prepaid('expiring');
    await hold(accountId, 'long', 5);
    await open(accountId);
    await visit.told('long');
    // After the page is there: how long that takes is not known.
    const { expiresAt } = await hold(accountId, 'short', 30, 12);
    await visit.told('short');
    await visit.told('USD 65.00');
    await visit.inspect('account-holds');
    await visit.quiet();
    visit.requested.splice(0);
    const left = Date.parse(expiresAt as string) - Date.now();
    expect(await goneIn('short')).to.be.lessThan(Math.max(0, left) + atOnceMs);
    // What was held can be spent again: 100 - 5.
    await visit.told('USD 95.00');
    expect(await visit.text()).to.include('long');
    expect(visit.requested.filter((url) => url.includes('/holds')).length).to.be.within(1, 4);
  });

  // spec/beyond.md R524
  it('shows none that was captured or released', async () => {
    const { accountId } = await prepaid('ending');
    const captured = await hold(accountId, 'captured', 10);
    const released = await hold(accountId, 'released', 20);
    await open(accountId);
    await visit.told('captured');
    await visit.told('released');
    await visit.quiet();
    await capture('ending', captured.id);
    expect(await goneIn('captured')).to.be.lessThan(atOnceMs);
    await story.tenant.delete(`/v1/holds/${released.id}`).expect(204);
    expect(await goneIn('released')).to.be.lessThan(atOnceMs);
    // 100 - 1.
    await visit.told('USD 99.00');
  });

  // spec/beyond.md R528, R556
  it('says how far a balance is above the next threshold, as a length, too', async () => {
    const { accountId, walletId } = await prepaid('alerted');
    const alert = { walletId, measure: 'balance', period: 'Lifetime' };
    for (const [name, thresholds] of [
      ['Low', [20, 150, 40]],
      ['Gone', [200]],
    ] as const) {
      await story.tenant.post('/v1/alerts', { ...alert, name, thresholds }).expect(201);
    }
    await capture('alerted', (await hold(accountId, 'one', 10)).id);
    await open(accountId);
    await visit.find('table', 'Alerts');
    await visit.told('-USD 1.00');
    // 99 are left; 99 - 40 is 59.
    await visit.told('USD 99.00, below USD 150.00, USD 59.00 above the next, USD 40.00');
    await visit.told('USD 99.00, below USD 200.00');
    await visit.told('below USD 20.00 and USD 40.00 and USD 150.00');
    await visit.find('meter', 'Low');
    const lengths = await visit.page.evaluate(
      `[...document.querySelectorAll('meter')].map(({ value, max }) => [value, max].join(' of '))`,
    );
    expect(lengths).to.have.members(['40 of 99', '1 of 1']);
    await visit.inspect('account-alerts');
  });

  // spec/beyond.md R598
  it('says the currency of an alert whose wallet is on no page that is shown', async () => {
    const accountId = await story.account('many', { name: 'Many' });
    for (let at = 0; at < 20; at += 1) await createWallet(story.tenant, accountId);
    const walletId = await createWallet(story.tenant, accountId, { title: 'ZZ, the last' });
    const alert = { walletId, measure: 'balance', period: 'Lifetime', name: 'Far' };
    await story.tenant.post('/v1/alerts', { ...alert, thresholds: [20] }).expect(201);
    await visit.open(`/console/accounts/${accountId}`, 'Many');
    await visit.told('1 to 20 of 21');
    await visit.told('below USD 20.00');
  });
});
