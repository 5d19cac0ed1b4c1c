import { expect } from 'chai';
import { newId } from '../../src/kernel/id.js';
import { loadBillingLines } from '../../src/queries/billing/billing-account.js';
import { previewUsage } from '../../src/queries/billing/unbilled-usage.js';
import { usageLimits } from '../../src/commands/billing/charge-limit.js';
import { runBilling } from '../support/billing/billing-run.js';
import { tiers, usage } from '../support/billing/usage.js';
import { watchLoop } from '../support/servers/event-loop.js';
import { attribute, every, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** 2,191 days. */
const sixYears = ['2020-11-01', '2026-10-31'] as const;

describe('a billing run over many periods', () => {
  const story = useStory();
  const { tenant } = story;

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
  }).timeout(180_000);

  it('does not take lines into memory that are too many together', async () => {
    const accountId = await subscribe('heavy', 3);
    const { read } = tenant.scope.db;
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

// spec/beyond.md R287
describe('adjustments that began long before what a run bills', () => {
  const story = useStory();

  it('leave the thread to others, and come to the same', async () => {
    const accountId = await story.account('old');
    const serviceId = await story.service('Calls', {
      rateCards: [usdCard(priceOfEach('api_calls', 1))],
    });
    // From then on there are 2.6 million days of which nothing was billed.
    await story.send(usage('old', serviceId, { eventTimestamp: '1900-01-01T12:00:00Z' }));
    const agreed = { accountId, currency: 'USD', period: 'Daily', value: 2 };
    for (const [kind, from] of [
      ['minimum', '1900-01-01'],
      ['commitment', '8990-01-01'],
    ] as const) {
      await story.tenant.post('/v1/adjustments', { ...agreed, kind, from }).expect(201);
    }
    const { longestMs } = await watchLoop(async () => {
      const days = ['8990-01-01', '8990-01-03'] as const;
      const run = await runBilling(story.tenant, ...days, { accountId, dryRun: true });
      // The usage of 1900, and 2 for each of three days, of which the commitment asks no more.
      const items = run.invoices?.flatMap((invoice) => invoice.items) ?? [];
      expect(items.map(({ amount }) => amount)).to.deep.equal([100, 2, 2, 2]);
    });
    expect(longestMs).to.be.below(1_000);
  }).timeout(180_000);
});

describe('a billing run over usage at many rates', () => {
  const story = useStory({ forEachTest: true });
  const { tenant } = story;

  /** Repeats what an account has used, each time at another rate: 1, 2, 3 and so on. */
  const multiply = async (accountId: string, times: number): Promise<void> => {
    await tenant.scope.db.transaction(async (trx) => {
      await trx.raw(
        `create temporary table copied on commit drop as
         select t.id, uuidv7() as copy_id, number
         from rated_transaction as t cross join generate_series(1, ?::integer) as number
         where t.account_id = ?`,
        [times, accountId],
      );
      await trx.raw(
        `insert into rated_transaction select made.*
         from copied join rated_transaction as t using (id)
           cross join lateral jsonb_populate_record(t, jsonb_build_object(
             'id', copy_id, 'external_tran_id', copy_id, 'rate', number)) as made`,
      );
    });
  };

  // docs/decisions/0312
  it('bills usage that makes no more items than an account may have, and says whose makes more', async () => {
    const accountId = await story.account('many rates');
    await story.account('one rate');
    const serviceId = await story.service('Calls');
    await story.send(usage('many rates', serviceId), usage('one rate', serviceId));
    // With the rate that there is: 20,001.
    await multiply(accountId, 20_000);
    const { run, lines } = await story.bill('2026-03');
    expect(lines).to.deep.equal(['API calls 2026-03-15..2026-03-15 1']);
    expect(run).to.deep.include({ invoiceCount: 1, transactionCount: 1 });
    expect(run.problems).to.deep.equal([
      {
        accountId,
        contractServiceId: null,
        chargeType: null,
        periodStart: null,
        code: 'TOO_MANY_CHARGES',
        message:
          'The usage of this period makes more than 20000 items, or has more than 200000 tiers. Bill it in shorter ones.',
      },
    ]);
    await tenant.scope.db.transaction((trx) =>
      trx.raw('update rated_transaction set rate = 1 where rate = 2'),
    );
    const again = await runBilling(tenant, '2026-03-01', '2026-03-31');
    expect(again).to.deep.include({ invoiceCount: 1, transactionCount: 20_001, problemCount: 0 });
  }).timeout(180_000);

  it('does not take usage into memory that is too much together', async () => {
    const serviceId = await story.service('Seats and calls', {
      priceableAttributes: [attribute('seats'), attribute('api_calls')],
      rateCards: [
        usdCard(
          { priceDimName: 'seats', label: 'Seats', ...tiers([0, 5, 1], [5, null, 2]) },
          priceOfEach('api_calls', 0.01, { label: 'API calls' }),
        ),
      ],
    });
    const accountIds = [await story.account('first'), await story.account('second')];
    // Each has two items, and one of them two tiers.
    const dimensions = { seats: '7', api_calls: '1' };
    await story.send(...['first', 'second'].map((name) => usage(name, serviceId, { dimensions })));
    const take = (limits: Partial<typeof usageLimits>) =>
      previewUsage(tenant.scope.db.read, tenant.id, {
        accountIds,
        until: '2026-03-31',
        cutoffs: [],
        seed: newId(),
        ...usageLimits,
        ...limits,
      });
    expect(await take({ groupsMax: 4, itemsMax: 2, tiersMax: 4 })).to.have.length(4);
    expect(await take({ groupsMax: 3 })).to.equal(undefined);
    expect(await take({ itemsMax: 1 })).to.equal(undefined);
    expect(await take({ tiersMax: 3 })).to.equal(undefined);
  });
});
