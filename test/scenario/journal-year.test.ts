import { expect } from 'chai';
import { keepJournal } from '../../src/commands/billing/journal/recognize-deferred.js';
import { setTenantClock } from '../../src/models/sandbox/sandbox-clock.js';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { openBalances } from '../support/billing/journal.js';
import { usage } from '../support/billing/usage.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';
import { every, flatPrice, priceOfEach, subscriptionOf, usdCard } from '../support/story/prices.js';
import { Story } from '../support/story/story.js';

// spec/beyond.md R302 to R304, R318, worked out by hand
describe('a year in the journal', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  let tenant: TestTenant;
  let story: Story;

  const moveTo = async (now: string): Promise<void> => {
    await tenant.post('/v1/clock', { now }).expect(200);
    const scope = { ...tenant.scope, now: () => new Date(now) };
    while (await keepJournal(scope));
  };
  /** The accounts that do not stand at zero, at an instant. */
  const balancesAt = (at: string) => openBalances(tenant, `?at=${at}`);

  it('defers a subscription by day, draws on a grant, and has what expired of it as breakage', async () => {
    tenant = await instance.tenant();
    await setTenantClock(instance.platform.database.platform, tenant.id, new Date('2027-01-01'));
    story = new Story(instance, tenant, { now: undefined });
    const accountId = await story.account('acme');
    const calls = await story.service('Calls', {
      rateCards: [usdCard(priceOfEach('api_calls', 1))],
    });
    const licence = await story.service('Licence', subscriptionOf(flatPrice('licence', 365)));
    const { lines } = await story.subscribe(accountId, [
      { serviceId: licence, startDate: '2027-01-01', ...every('Yearly') },
    ]);
    await tenant
      .put(`/api/q2c-entity-services/CONTRACT/${lines[0]?.id}`, {
        subscriptionChargeType: 'In Advance',
      })
      .expect(200);
    const wallet = { title: 'Prepaid', accountId, currency: 'USD' };
    const { body: made } = await tenant.post(`${external}/wallets`, wallet).expect(201);
    const grant = {
      externalId: 'g',
      amount: 100,
      kind: 'purchased',
      expiresAt: '2027-07-01',
      serviceIds: [calls],
    };
    await tenant.post(`/v1/wallets/${made.id}/grants`, grant).expect(201);

    await moveTo('2027-02-01');
    const january = await story.bill('2027-01', { accountId });
    expect(january.invoices[0]).to.include({ amount: 365 });
    await moveTo('2027-02-15');
    // 30 calls of which the grant pays all.
    const eventTimestamp = '2027-02-10T10:00:00Z';
    await story.send(usage('acme', calls, { dimensions: { api_calls: '30' }, eventTimestamp }));
    // Booked or not yet, it is of the time at which the clock stands.
    expect(await balancesAt('2027-02-15')).to.deep.equal({
      receivable: 365,
      clearing: 100,
      wallet: -70,
      revenue: -75,
      deferred: -320,
    });
    expect(await balancesAt('2027-02-14')).to.include({ wallet: -100, revenue: -44 });
    await moveTo('2027-03-01');
    expect((await story.bill('2027-02', { accountId })).invoices[0]).to.include({ amount: 0 });
    await moveTo('2027-07-02');
    await moveTo('2028-01-02');

    const paid = { receivable: 365, clearing: 100 };
    // 1 of each day: 31 of January and 11 of February, 323 of 365 are for later.
    expect(await balancesAt('2027-02-12')).to.deep.equal({
      ...paid,
      wallet: -100,
      revenue: -42,
      deferred: -323,
    });
    // 31 + 28 + 31 + 10 = 100 days, and 30 calls, which the grant paid.
    expect(await balancesAt('2027-04-11')).to.deep.equal({
      ...paid,
      wallet: -70,
      revenue: -130,
      deferred: -265,
    });
    // 181 days until the end of June and the first of July, on which 70 of the grant expired.
    expect(await balancesAt('2027-07-02')).to.deep.equal({
      ...paid,
      revenue: -212,
      breakage: -70,
      deferred: -183,
    });
    expect(await balancesAt('2027-12-31')).to.deep.equal({
      ...paid,
      revenue: -394,
      breakage: -70,
      deferred: -1,
    });
    expect(await balancesAt('2028-01-01')).to.deep.equal({
      ...paid,
      revenue: -395,
      breakage: -70,
    });
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
  });
});
