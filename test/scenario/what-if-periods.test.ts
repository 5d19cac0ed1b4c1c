import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { watchLoop } from '../support/servers/event-loop.js';
import { useStory } from '../support/story/story.js';

interface Period {
  readonly adjustmentId: string | null;
  readonly kind: string;
  readonly spentAfter: number;
  readonly before: number;
  readonly after: number;
}

/** What usage would cost with a minimum, maximum or commitment more, and with those in force. */
describe('what if: minimums, maximums and commitments', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const march = { from: '2026-03-01', to: '2026-04-01' };
  const usd = (amount: number) => [{ currency: 'USD', amount }];
  const reprice = async (changes: readonly object[], range: object = march) => {
    const data = { name: 'Try', ...range, changes };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const agreed = (accountId: string, kind: string, value: number, more: object = {}) => ({
    accountId,
    kind,
    value,
    currency: 'USD',
    from: '2026-03-01',
    ...more,
  });
  const tried = (...of: Parameters<typeof agreed>) => ({
    kind: 'adjustment',
    adjustment: agreed(...of),
  });
  const twice = { kind: 'usage', factor: 2 };
  const calls = (account: string, serviceId: string, day: string, api_calls: string) =>
    usage(account, serviceId, {
      eventTimestamp: `2026-03-${day}T12:00:00Z`,
      dimensions: { api_calls },
    });
  /** 1.00 on the 10th and 2.00 on the 20th. */
  const used = async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(calls('acme', serviceId, '10', '100'), calls('acme', serviceId, '20', '200'));
    return { accountId, serviceId };
  };
  const accountsOf = async (id: string) =>
    (await tenant.get(`/v1/repricings/${id}/accounts`).expect(200)).body.data;

  // spec/beyond.md R235
  it('leave the thread to others, of as many periods as may be, and refuse more', async () => {
    const { accountId } = await used();
    const daily = (from: string) => tried(accountId, 'minimum', 1, { period: 'Daily', from });
    let output;
    const { longestMs } = await watchLoop(async () => {
      output = await reprice([daily('1972-01-01')], { from: '1972-01-01', to: '2026-04-01' });
    });
    // 19,814 days of 1.00, but for the 10th of March, which comes to that, and the 20th, to 2.00.
    expect(output).to.deep.include({ before: usd(3), after: usd(19_815) });
    expect(longestMs).to.be.below(1_000);
    const always = { from: '0001-01-01', to: '9999-12-31', changes: [daily('0001-01-01')] };
    const refused = await watchLoop(async () => {
      const data = { name: 'Try', ...always };
      const { body } = await tenant.post('/v1/workflows/reprice/execute', { data });
      expect(JSON.stringify(body)).to.contain('There are too many periods: choose fewer days.');
    });
    expect(refused.longestMs).to.be.below(1_000);
    // No month, and no year, comes after the last one.
    for (const period of ['Weekly', 'Monthly', 'Yearly']) {
      const last = tried(accountId, 'minimum', 1, { period, from: '9990-01-01' });
      const none = await reprice([last], { from: '9999-12-01', to: '9999-12-31' });
      expect(none.accounts, period).to.be.below(2);
    }
  }).timeout(180_000);

  // spec/beyond.md R148, R235
  it('bring each whole period to what would be agreed', async () => {
    const { accountId } = await used();
    const minimum = await reprice([tried(accountId, 'minimum', 5)]);
    expect(minimum).to.deep.include({ events: 2, accounts: 1, before: usd(3), after: usd(5) });
    const [row] = await accountsOf(minimum.repricingId);
    expect(row).to.deep.include({ before: 3, after: 5, difference: 2, charges: 2 });
    expect(row.adjustments).to.deep.equal([
      {
        adjustmentId: null,
        kind: 'minimum',
        value: 5,
        periodStart: '2026-03-01',
        periodEnd: '2026-03-31',
        spentBefore: 3,
        spentAfter: 3,
        before: 0,
        after: 2,
      },
    ]);
    // 6.00 of usage: 3.50 above it
    const maximum = tried(accountId, 'maximum', 2.5);
    expect((await reprice([twice, maximum])).after).to.deep.equal(usd(2.5));
    expect((await reprice([tried(accountId, 'commitment', 10)])).after).to.deep.equal(usd(10));
    // A minimum's top-up counts towards a commitment: 3.00 + 2.00 + 1.00
    const both = [tried(accountId, 'minimum', 5), tried(accountId, 'commitment', 6)];
    expect((await reprice(both)).after).to.deep.equal(usd(6));
    expect((await reprice([tried(accountId, 'minimum', 2)])).after).to.deep.equal(usd(3));
  });

  // spec/beyond.md R235
  it('hold for what the whole period comes to, and a minimum only when it is over', async () => {
    const { accountId } = await used();
    const minimum = tried(accountId, 'minimum', 5);
    // 2.00 in the range; the month is at 3.00, so 2.00 more.
    const second = { from: '2026-03-15', to: '2026-04-01' };
    expect((await reprice([minimum], second)).after).to.deep.equal(usd(4));
    const first = { from: '2026-03-01', to: '2026-03-15' };
    expect((await reprice([minimum], first)).after).to.deep.equal(usd(1));
    // Up to the 14th the month is at 1.00: 0.50 above it.
    expect((await reprice([tried(accountId, 'maximum', 0.5)], first)).after).to.deep.equal(
      usd(0.5),
    );
    const yearly = tried(accountId, 'commitment', 100, { period: 'Yearly' });
    expect((await reprice([yearly])).after).to.deep.equal(usd(3));
    // It ends within the month, and costs the whole: 1.00 up to the 14th, 4.00 more.
    const short = tried(accountId, 'minimum', 5, { to: '2026-03-15' });
    expect((await reprice([short])).after).to.deep.equal(usd(7));
    expect(
      (await reprice([tried(accountId, 'minimum', 5, { from: '2026-04-01' })])).after,
    ).to.deep.equal(usd(3));
  });

  // spec/beyond.md R235
  it('bill accounts that have used nothing', async () => {
    const { accountId } = await used();
    const globex = await story.account('globex');
    const output = await reprice([tried(globex, 'minimum', 4)]);
    expect(output).to.deep.include({ events: 2, accounts: 2, before: usd(3), after: usd(7) });
    const rows = await accountsOf(output.repricingId);
    expect(
      rows.map((row: Record<string, unknown>) => [row['accountId'], row['after'], row['change']]),
    ).to.deep.equal([
      [accountId, 3, 0],
      [globex, 4, null],
    ]);
  });

  // spec/beyond.md R235
  it('those in force move with what is tried', async () => {
    const { accountId } = await used();
    await tenant.post('/v1/adjustments', agreed(accountId, 'maximum', 2.5)).expect(201);
    expect((await reprice([])).after).to.deep.equal(usd(3));
    // 0.50 comes off in the books, 3.50 would: the bill stays at 2.50, so nothing changes.
    const output = await reprice([twice]);
    expect(output).to.deep.include({ before: usd(3), after: usd(3) });
    expect(output.change).to.deep.include({ min: 0, max: 0 });
    const [row] = await accountsOf(output.repricingId);
    expect(
      row.adjustments.map(({ kind, spentAfter, before, after }: Period) => [
        kind,
        spentAfter,
        before,
        after,
      ]),
    ).to.deep.equal([['maximum', 6, -0.5, -3.5]]);
    // In place of the one in force: 4.00 in place of 2.50, so all of 3.00 is billed, 0.50 more.
    expect((await reprice([tried(accountId, 'maximum', 4)])).after).to.deep.equal(usd(3.5));
  });

  // spec/beyond.md R235
  it('of a contract, a line and a service; promoting agrees them', async () => {
    const acme = await story.account('acme');
    const [one, other] = [await story.service('One'), await story.service('Other')];
    const { id: contractId, lines } = await story.subscribe(acme, [one, other], {
      startDate: '2026-01-01',
      currency: 'USD',
    });
    // 1.00 and 3.00
    await story.send(calls('acme', one, '20', '100'), calls('acme', other, '20', '300'));
    const minimum = (scope: object) => ({
      kind: 'adjustment',
      adjustment: { kind: 'minimum', value: 3.5, from: '2026-03-01', ...scope },
    });
    expect((await reprice([minimum({ contractId })])).after).to.deep.equal(usd(4));
    expect((await reprice([minimum({ contractId, serviceId: one })])).after).to.deep.equal(
      usd(6.5),
    );
    const ofLine = minimum({ contractServiceId: lines[1]?.id });
    expect((await reprice([ofLine])).after).to.deep.equal(usd(4.5));
    // 6.00 of the line with twice as much, 2.00 of the other
    const output = await reprice([twice, ofLine]);
    expect(output.after).to.deep.equal(usd(8));
    const { repricingId } = await reprice([ofLine]);
    const promote = `/v1/repricings/${repricingId}/promote`;
    const { body } = await tenant.post(promote, { fromDate: '2026-05-01' }).expect(200);
    const [{ adjustmentId }] = body.versions;
    const { body: made } = await tenant.get(`/v1/adjustments/${adjustmentId}`).expect(200);
    expect(made).to.deep.include({
      kind: 'minimum',
      value: 3.5,
      period: 'Monthly',
      from: '2026-05-01',
    });
  });
});
