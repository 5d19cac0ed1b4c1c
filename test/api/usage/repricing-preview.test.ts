import { expect } from 'chai';
import { meteredService, tiers, usage } from '../../support/billing/usage.js';
import { useStory } from '../../support/story/story.js';

/** What usage of an account would cost, said at once. */
describe('a preview of other prices', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const range = { from: '2026-03-01', to: '2026-04-01' };
  const card = (serviceId: string, prices: object) => ({
    kind: 'rateCard',
    serviceId,
    currency: 'USD',
    rows: [{ priceDimName: 'api_calls', label: 'API calls', ...prices }],
  });
  const each = (unitRate: number) => ({ priceMethod: 'QUANTITY', unitRate });
  const preview = (body: object) =>
    tenant.post('/v1/repricings/preview', { accountId: 'acme', ...range, ...body });
  const calls = (account: string, serviceId: string, ...numbers: string[]) =>
    numbers.map((api_calls) => usage(account, serviceId, { dimensions: { api_calls } }));

  // spec/beyond.md R476
  it('is what a what-if of the account says, to the last digit, and writes nothing', async () => {
    const acme = await story.account('acme');
    await story.account('globex');
    const metered = await story.service('Metered', meteredService);
    const other = await story.service('Other');
    await story.send(
      ...calls('acme', metered, '700', '800', '0.123456789'),
      ...calls('globex', metered, '5000'),
      ...calls('acme', other, '10'),
    );
    const changes = [
      card(metered, tiers([0, 900, 0.0123456789], [900, null, 0.0000000001])),
      card('Other', each(0.03)),
    ];
    const data = { name: 'Tried', ...range, accountIds: [acme], changes };
    const executed = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    const { events, before, after } = executed.body.output;
    const { body } = await preview({ changes }).expect(200);
    expect(body).to.deep.include({ events, isWhole: true, rejected: [] });
    const [total] = body.totals;
    expect([{ currency: 'USD', amount: total.before }]).to.deep.equal(before);
    expect([{ currency: 'USD', amount: total.after }]).to.deep.equal(after);
    // 10 at 0.01 and at 0.03: 0.20 more, which is 200 percent.
    const ofOther = await preview({ changes, serviceIds: ['Other'] }).expect(200);
    expect(ofOther.body).to.deep.equal({
      events: 1,
      isWhole: true,
      rejected: [],
      totals: [{ currency: 'USD', before: 0.1, after: 0.3, difference: 0.2, change: 200 }],
    });
    const same = await preview({ changes: [] }).expect(200);
    expect(same.body.totals).to.deep.equal([
      { currency: 'USD', before: total.before, after: total.before, difference: 0, change: 0 },
    ]);
    const { body: list } = await tenant.get('/v1/repricings').expect(200);
    expect(list.pagination.total).to.equal(1);
  });

  // spec/beyond.md R476
  it('says where it is of the first events alone, and what cannot be rated', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, ...Array.from({ length: 1_001 }, () => '1')));
    const { body } = await preview({ changes: [card(serviceId, each(0.02))] }).expect(200);
    expect(body).to.deep.equal({
      events: 1_000,
      isWhole: false,
      rejected: [],
      totals: [{ currency: 'USD', before: 10, after: 20, difference: 10, change: 100 }],
    });
    const none = await preview({ changes: [], from: '2025-03-01', to: '2025-04-01' }).expect(200);
    expect(none.body).to.deep.equal({ events: 0, isWhole: true, rejected: [], totals: [] });
    const logic = {
      kind: 'pricingLogic',
      serviceId,
      name: 'Main',
      priceOutput: 'total',
      transactionDimension: 'Billed account',
      steps: [{ name: 'total', formula: '1 / (api_calls - 1)' }],
    };
    const kept = await preview({ changes: [logic] }).expect(200);
    expect(kept.body.rejected).to.have.length(1);
    expect(kept.body.totals).to.deep.equal([
      { currency: 'USD', before: 10, after: 10, difference: 0, change: 0 },
    ]);
  });

  // spec/beyond.md R476
  it('ends where rating has cost as much as one call may, whether or not it ends in a price', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, ...Array.from({ length: 150 }, () => '1')));
    // 100 steps of 15 divisions: about 20,000 operations, of which an event may cost 20,000.
    const steps = Array.from({ length: 100 }, (_each, index) => ({
      name: `s${index}`,
      formula: `${index === 0 ? 'api_calls' : `s${index - 1}`}${' / 3'.repeat(15)}`,
    }));
    const logic = (divisor: string) => ({
      kind: 'pricingLogic',
      serviceId,
      name: 'Dear',
      priceOutput: 'total',
      transactionDimension: 'Billed account',
      steps: [...steps, { name: 'total', formula: `s99 / ${divisor}` }],
    });
    const rated = await preview({ changes: [logic('(api_calls + 0)')] }).expect(200);
    const failing = await preview({ changes: [logic('(api_calls - 1)')] }).expect(200);
    expect(rated.body).to.deep.include({ isWhole: false, rejected: [] });
    const { events } = rated.body;
    expect(events).to.be.within(101, 120);
    expect(failing.body).to.deep.include({
      events,
      isWhole: false,
      rejected: [{ code: 'FORMULA_ERROR', events }],
    });
  });

  // spec/beyond.md R476
  it('refuses what names nothing, and changes of whole periods', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const absent = '00000000-0000-4000-8000-000000000000';
    const minimum = { kind: 'minimum', accountId: 'acme', currency: 'USD', value: 10 };
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ changes: [], accountId: absent }, /'accountId' names no account/],
      [{ changes: [], accountId: 'nobody' }, /nobody/],
      [{ changes: [card(absent, each(1))] }, /names no service/],
      [{ changes: [], to: '2026-03-01' }, /'from' must be before 'to'/],
      [{ changes: [card(serviceId, each(1)), card(serviceId, each(2))] }, /same card/],
      [
        { changes: [{ kind: 'adjustment', adjustment: { ...minimum, from: '2026-03-01' } }] },
        /whole periods/,
      ],
    ];
    for (const [body, message] of refused) {
      const { body: answer } = await preview(body).expect(400);
      expect(answer.error.message).to.match(message);
    }
  });
});
