import { expect } from 'chai';
import { loadBillingLines } from '../../src/queries/billing/billing-account.js';
import { runBilling } from '../support/billing/billing-run.js';
import { watchLoop } from '../support/servers/event-loop.js';
import { attribute, every, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** 2,191 days. */
const sixYears = ['2020-11-01', '2026-10-31'] as const;

describe('a billing run over many periods', () => {
  const story = useStory();
  const { instance, tenant } = story;

  /** A subscription of 0.01 a day, on so many lines of a contract, since the first day of the calendar. */
  const subscribe = async (name: string, lines: number): Promise<string> => {
    const accountId = await story.account(name);
    const serviceId = await story.service(`Plan of ${name}`, {
      serviceType: 'Subscription',
      priceableAttributes: [attribute('seats')],
      rateCards: [usdCard(priceOfEach('seats', 0.01, { label: 'Seats' }))],
    });
    const line = { serviceId, ...every('Daily') };
    const contract = { name, currency: 'USD', startDate: '0001-01-01' };
    await story.subscribe(accountId, Array(lines).fill(line), contract);
    return accountId;
  };

  it('bills who has no more than may be billed together, and says who has', async () => {
    // 21,910 charges and 2,191.
    const accountId = await subscribe('many', 10);
    await subscribe('few', 1);
    const problem = {
      accountId,
      contractServiceId: null,
      chargeType: null,
      periodStart: null,
      code: 'TOO_MANY_CHARGES',
      message:
        'There are more than 20000 subscription and one-time charges in this period. Bill it in shorter ones.',
    };
    const { run } = await story.bill(sixYears);
    expect(run.invoiceCount).to.equal(1);
    expect(run.problems).to.deep.equal([problem]);
    const named = await story.preview(['1927-01-01', '2026-10-31'], { accountId });
    expect(named.invoiceCount).to.equal(0);
    expect(named.problems).to.deep.equal([problem]);
    const shorter = await story.bill('2026-10');
    expect(shorter.run).to.deep.include({ invoiceCount: 1, problemCount: 0 });
  }).timeout(60_000);

  it('does not take lines into memory that are too many together', async () => {
    const accountId = await subscribe('heavy', 3);
    const { read } = instance.platform.database.forTenant(tenant.id, {
      actor: 'test',
      requestId: 'test',
    });
    const lines = await loadBillingLines(read, tenant.id, [accountId]);
    expect(lines).to.have.length(3);
    // A line is some hundreds of bytes.
    expect(await loadBillingLines(read, tenant.id, [accountId], 1_000)).to.equal(undefined);
    expect(await loadBillingLines(read, tenant.id, [], 0)).to.deep.equal([]);
  });

  it('leaves the thread to others meanwhile', async () => {
    const accountId = await subscribe('long', 1);
    // 4,018 charges, and the same again when all of them are charged.
    const period = ['2015-01-01', '2025-12-31'] as const;
    for (const dryRun of [true, false, false]) {
      const { longestMs } = await watchLoop(() =>
        runBilling(tenant, ...period, { accountId, dryRun }),
      );
      expect(longestMs, `longest step, dryRun ${String(dryRun)}`).to.be.below(1_000);
    }
  });
});
