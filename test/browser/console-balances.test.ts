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
  let acme: string;
  let calls: string;

  before(async () => {
    const { tenant } = story;
    acme = await story.account('acme', { name: 'Acme' });
    calls = await story.service('Calls');
    await story.subscribe(acme, [calls], { startDate: '2026-01-01' });
    const walletId = await createWallet(tenant, acme, { title: 'Prepaid' });
    await addGrant(tenant, walletId, 'top-up', 100);
    const alert = { walletId, measure: 'balance', period: 'Lifetime' };
    await tenant
      .post('/v1/alerts', { ...alert, name: 'Low', thresholds: [20, 150, 40] })
      .expect(201);
    await tenant.post('/v1/alerts', { ...alert, name: 'Gone', thresholds: [200] }).expect(201);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const hold = async (key: string, amount: number, expiresInSeconds: number) => {
    const asked = { accountId: acme, currency: 'USD', amount, expiresInSeconds, key };
    return (await story.tenant.post('/v1/holds', asked).expect(201)).body;
  };
  const open = () => visit.open(`/console/accounts/${acme}`, 'Acme');
  /** Waits until something is not shown any more; how long that took. */
  const goneIn = async (text: string): Promise<number> => {
    const since = performance.now();
    await visit.page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(text)})`);
    return performance.now() - since;
  };

  // spec/beyond.md R524
  it('shows no hold that has expired, without asking for it all the time', async () => {
    const { expiresAt } = await hold('short', 30, 8);
    await hold('long', 5, 3_600);
    await open();
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
    const { tenant } = story;
    const captured = await hold('captured', 10, 3_600);
    const released = await hold('released', 20, 3_600);
    await open();
    await visit.told('captured');
    await visit.told('released');
    await visit.quiet();
    const message = usage('acme', calls, { externalTransactionId: 'of-the-hold' });
    await tenant.post(`/v1/holds/${captured.id}/commit`, { message }).expect(200);
    expect(await goneIn('captured')).to.be.lessThan(atOnceMs);
    await tenant.delete(`/v1/holds/${released.id}`).expect(204);
    expect(await goneIn('released')).to.be.lessThan(atOnceMs);
    // 100 calls at 0.01 each: 100 - 5 - 1.
    await visit.told('USD 94.00');
  });

  // spec/beyond.md R528
  it('says how far a balance is above the next threshold, as a length, too', async () => {
    await open();
    await visit.find('table', 'Alerts');
    // 99 are left; 99 - 40 is 59.
    await visit.told('99, below 150, 59 above the next, 40');
    await visit.told('99, below 200');
    await visit.find('meter', 'Low');
    const lengths = await visit.page.evaluate(
      `[...document.querySelectorAll('meter')].map(({ value, max }) => [value, max].join(' of '))`,
    );
    expect(lengths).to.have.members(['40 of 99', '1 of 1']);
    await visit.inspect('account-alerts');
  });
});
