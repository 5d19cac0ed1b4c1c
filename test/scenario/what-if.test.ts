import { expect } from 'chai';
import { meteredService, tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

interface Money {
  readonly currency: string;
  readonly amount: number;
}

interface Output {
  readonly repricingId: string;
  readonly events: number;
  readonly accounts: number;
  readonly before: readonly Money[];
  readonly after: readonly Money[];
  readonly change: Readonly<Record<string, number | null>>;
  readonly guard: { readonly passed: boolean; readonly violations: readonly object[] };
  readonly rejected: readonly object[];
}

/** What usage would cost with other prices. */
describe('what if', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const range = { from: '2026-03-01', to: '2026-04-01' };
  const flat = (unitRate: number) => [
    { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate },
  ];
  const usd = (amount: number): Money[] => [{ currency: 'USD', amount }];

  const execute = async (data: object) =>
    (
      await tenant
        .post('/v1/workflows/reprice/execute', { data: { name: 'Try', ...range, ...data } })
        .expect(200)
    ).body;
  const reprice = async (changes: readonly object[], more: object = {}): Promise<Output> => {
    const body = await execute({ changes, ...more });
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const get = async (path: string) => (await tenant.get(`/v1/repricings${path}`).expect(200)).body;
  const calls = (account: string, serviceId: string, ...numbers: string[]) =>
    numbers.map((api_calls) => usage(account, serviceId, { dimensions: { api_calls } }));

  // spec/beyond.md R218, R220, R222, R224 to R226
  it('another card: what each account would pay, with both explanations of each charge', async () => {
    const acme = await story.account('acme');
    const globex = await story.account('globex');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, '100', '50'), ...calls('globex', serviceId, '7'));
    const card = { kind: 'rateCard', serviceId, currency: 'USD', rows: flat(0.03) };
    const output = await reprice([card]);
    // 157 at 0.01 and at 0.03
    expect(output).to.deep.include({
      events: 3,
      accounts: 2,
      before: usd(1.57),
      after: usd(4.71),
      change: { p5: 200, p50: 200, p95: 200, min: 200, max: 200 },
      guard: { passed: true, violations: [] },
      rejected: [],
    });
    const { repricingId } = output;
    const { data: accounts } = await get(`/${repricingId}/accounts?sort=change:desc`);
    expect(accounts).to.have.deep.members([
      {
        accountId: acme,
        name: 'acme',
        externalId: 'acme',
        currency: 'USD',
        charges: 2,
        before: 1.5,
        after: 4.5,
        difference: 3,
        change: 200,
        adjustments: [],
      },
      {
        accountId: globex,
        name: 'globex',
        externalId: 'globex',
        currency: 'USD',
        charges: 1,
        before: 0.07,
        after: 0.21,
        difference: 0.14,
        change: 200,
        adjustments: [],
      },
    ]);
    const { data: charges } = await get(`/${repricingId}/accounts/${acme}/charges`);
    expect(
      charges.map((one: Record<string, number>) => [one['before'], one['after']]),
    ).to.deep.equal([
      [1, 3],
      [0.5, 1.5],
    ]);
    const [charge] = charges;
    expect(charge.beforeExplanation.total.amount).to.equal('1');
    expect(charge.afterExplanation.total.amount).to.equal('3');
    expect(charge.firstDifference.step).to.equal('card');
    const { data: list } = await get('');
    expect(list).to.have.length(1);
    expect(list[0]).to.deep.include({
      id: repricingId,
      name: 'Try',
      status: 'completed',
      eventsDone: 3,
      before: usd(1.57),
      after: usd(4.71),
    });
    const one = await get(`/${repricingId}`);
    expect(one.changes[0]).to.deep.include({ kind: 'rateCard', serviceId });
    const promote = `/v1/repricings/${repricingId}/promote`;
    const { body: promoted } = await tenant.post(promote, { fromDate: '2026-05-01' }).expect(200);
    expect(promoted).to.deep.include({ repricingId, forced: false });
    expect(promoted.versions[0]).to.deep.include({ kind: 'rateCard', serviceId, versionNo: 2 });
    expect(await get(`/${repricingId}`)).to.include({
      promotedFrom: '2026-05-01',
      isForced: false,
    });
    // The books are as they were.
    const { body: totals } = await tenant.get('/v1/usage').expect(200);
    expect(totals.data[0]).to.include({ amount: 1.57, events: 3 });
  });

  // spec/beyond.md R478
  it('dry: what promoting would make, and nothing is made', async () => {
    await story.account('acme');
    const [one, other] = [await story.service('One'), await story.service('Other')];
    await story.send(...calls('acme', one, '100', '50'));
    const card = (serviceId: string) => ({
      kind: 'rateCard',
      serviceId,
      currency: 'USD',
      rows: flat(0.03),
    });
    const { repricingId } = await reprice([card(one), card(other)]);
    const promote = `/v1/repricings/${repricingId}/promote`;
    const body = { fromDate: '2026-03-01' };
    const { body: dry } = await tenant.post(promote, { ...body, dryRun: true }).expect(200);
    const versionsOf = async (serviceId: string) =>
      (await tenant.get(`${external}/services/${serviceId}/rate-cards/USD/versions`)).body.content;
    expect(await versionsOf(one)).to.have.length(1);
    expect(await get(`/${repricingId}`)).to.include({ promotedAt: null, promotedFrom: null });
    const { body: audit } = await tenant.get(`/v1/audit?id=${repricingId}`).expect(200);
    expect(JSON.stringify(audit.data)).to.not.include('promotedFrom":"2026');
    const { body: made } = await tenant.post(promote, body).expect(200);
    const { executionId, ...whole } = made;
    expect(dry).to.deep.equal({ ...whole, dryRun: true });
    // spec/beyond.md R491
    const path = `/v1/workflows/promote-repricing/executions/${executionId}`;
    const { body: execution } = await tenant.get(path).expect(200);
    expect(execution.output).to.deep.equal(whole);
    expect(execution.input).to.deep.include({ repricingId });
    expect(made).to.include({ dryRun: false, forced: false });
    // spec/beyond.md R547: version 1 began on the day on which the story does.
    const held = { toDate: '2026-04-01', nextVersionNo: 1, isFirst: true };
    expect(made.versions[0]).to.deep.include({ versionNo: 2, affectedEvents: 2, ...held });
    expect(await versionsOf(one)).to.have.length(2);
    await tenant.post(promote, { ...body, dryRun: true }).expect(409);
  });

  // spec/beyond.md R219
  it('no changes: what the books have, also where prices of the past have changed since', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...calls('acme', serviceId, '800', '800', '800', '8000'));
    const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    const body = { currency: 'USD', fromDate: '2026-01-01', rows: flat(5) };
    await tenant.post(path, body).expect(201);
    // 0; 600 x 0.02 = 12; 16; 7,600 x 0.02 + 400 x 0.01 = 156
    const output = await reprice([]);
    expect(output).to.deep.include({ events: 4, before: usd(184), after: usd(184) });
    expect(output.change).to.deep.include({ min: 0, max: 0 });
  });

  // spec/beyond.md R220
  it('more usage of metered tiers moves the counters with it', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...calls('acme', serviceId, '800', '800', '800'));
    const output = await reprice([{ kind: 'usage', factor: 2, attribute: 'api_calls' }]);
    // Books: 0 + 12 + 16. Twice: 1,600 of which 1,000 are free, so 12; then 32, and 32.
    expect(output).to.deep.include({ before: usd(28), after: usd(76) });
    const { data: accounts } = await get(`/${output.repricingId}/accounts`);
    const { data } = await get(`/${output.repricingId}/accounts/${accounts[0].accountId}/charges`);
    expect(data.map((one: { after: number }) => one.after)).to.deep.equal([12, 32, 32]);
    expect(data[2].afterExplanation.rows[0].counter).to.deep.include({
      before: '3200',
      after: '4800',
    });
    const same = await reprice([{ kind: 'usage', factor: 1 }]);
    expect(same).to.deep.include({ before: usd(28), after: usd(28) });
    await tenant
      .post(`/v1/repricings/${output.repricingId}/promote`, { fromDate: '2026-05-01' })
      .expect(400);
  });

  // spec/beyond.md R220, R223, R227, R228
  it('an exception card of a line; the guard; promoting, and only with force', async () => {
    const acme = await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls');
    const { lines, path } = await story.subscribe(acme, [serviceId], {
      startDate: '2026-01-01',
      currency: 'USD',
    });
    const [line] = lines;
    await story.send(...calls('acme', serviceId, '100'), ...calls('globex', serviceId, '100'));
    const change = {
      kind: 'exceptionCard',
      contractServiceId: line?.id,
      currency: 'USD',
      rows: flat(0.005),
    };
    // acme 1.00 -> 0.50: -50 percent, the limit that is met; the total 2.00 -> 1.50: -25.
    const passed = await reprice([change], {
      guard: { accountChangeMax: 50, totalDecreaseMax: 25 },
    });
    expect(passed.guard).to.deep.equal({ passed: true, violations: [] });
    expect(passed.change).to.deep.equal({ p5: -50, p50: -50, p95: 0, min: -50, max: 0 });
    // spec/beyond.md R479: -50 is of the range that begins there, and 0 is one of its own.
    const { change: shown, guard: kept } = await get(`/${passed.repricingId}`);
    // spec/beyond.md R585
    expect(kept).to.include({ passed: true, accountChangeMax: 50, totalDecreaseMax: 25 });
    expect(shown.bins).to.have.length(11);
    expect(shown.bins.filter(({ accounts }: { accounts: number }) => accounts > 0)).to.deep.equal([
      { from: -50, to: -25, accounts: 1 },
      { from: 0, to: 0, accounts: 1 },
    ]);
    expect([shown.bins[0], shown.bins[10]]).to.deep.equal([
      { from: null, to: -50, accounts: 0 },
      { from: 50, to: null, accounts: 0 },
    ]);
    const { guard, repricingId } = await reprice([change], {
      guard: { accountChangeMax: 49.9, totalDecreaseMax: 24.9 },
    });
    expect(guard.passed).to.equal(false);
    expect(guard.violations).to.deep.equal([
      {
        limit: 'totalDecreaseMax',
        max: 24.9,
        accountId: null,
        currency: 'USD',
        before: 2,
        after: 1.5,
        change: -25,
      },
      {
        limit: 'accountChangeMax',
        max: 49.9,
        accountId: acme,
        currency: 'USD',
        before: 1,
        after: 0.5,
        change: -50,
      },
    ]);
    const promote = `/v1/repricings/${repricingId}/promote`;
    const body = { fromDate: '2026-05-01' };
    await tenant.post(promote, body).expect(409);
    // A first version would hold for all days before.
    await tenant.post(promote, { ...body, force: true }).expect(409);
    const cards = `${path}/services/${line?.id ?? ''}/rate-cards`;
    await tenant.post(cards, { currency: 'USD', rows: flat(0.01) }).expect(201);
    const operator = await story.instance.tenant(['OPERATOR'], tenant.id);
    await operator.post(promote, { ...body, force: true }).expect(403);
    const { body: promoted } = await tenant.post(promote, { ...body, force: true }).expect(200);
    expect(promoted).to.deep.include({ fromDate: '2026-05-01', forced: true });
    expect(promoted.versions[0]).to.deep.include({ contractServiceId: line?.id, versionNo: 2 });
    await tenant.post(promote, { fromDate: '2026-06-01', force: true }).expect(409);
    const { body: versions } = await tenant.get(`${cards}/USD/versions`).expect(200);
    expect(versions.content[0]).to.deep.include({ fromDate: '2026-05-01', versionNo: 2 });
    const { body: audit } = await tenant.get(`/v1/audit?id=${repricingId}`).expect(200);
    expect(JSON.stringify(audit.data)).to.include('"isForced":true');
  });

  // spec/beyond.md R218, R220, R227
  it('what does not fit is refused before anything is executed; OPERATOR may try', async () => {
    const acme = await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, '100'));
    const rows = flat(0.02);
    const card = { kind: 'rateCard', serviceId, currency: 'USD', rows };
    const nobody = '01939c6e-7a00-7000-8000-00000000beef';
    const refused: readonly object[] = [
      { changes: [{ ...card, currency: 'EUR' }] },
      { changes: [{ ...card, serviceId: nobody }] },
      { changes: [{ ...card, rows: [{ ...rows[0], priceDimName: 'nothing' }] }] },
      { changes: [{ kind: 'exceptionCard', contractServiceId: nobody, currency: 'USD', rows }] },
      { changes: [{ kind: 'usage', factor: -1 }] },
      { changes: [{ kind: 'discount' }] },
      { changes: [], accountIds: [nobody] },
      { changes: [], from: '2026-04-01', to: '2026-03-01' },
      { changes: [], guard: { accountChangeMax: -1 } },
      { name: '', changes: [] },
    ];
    for (const data of refused) {
      await tenant
        .post('/v1/workflows/reprice/execute', { data: { name: 'Try', ...range, ...data } })
        .expect(400);
    }
    const { data: list } = await get('');
    expect(list).to.deep.equal([]);
    const operator = await story.instance.tenant(['OPERATOR'], tenant.id);
    const data = { name: 'Try', ...range, changes: [card], accountIds: ['acme'] };
    const { body } = await operator.post('/v1/workflows/reprice/execute', { data }).expect(200);
    expect(body.output).to.deep.include({ events: 1, after: usd(2) });
    const { repricingId } = body.output;
    const one = await get(`/${repricingId as string}`);
    expect(one).to.deep.include({ accountIds: [acme], serviceIds: null });
    await tenant.get(`/v1/repricings/${nobody}`).expect(404);
    await tenant.get(`/v1/repricings/${repricingId as string}/accounts?sort=name:asc`).expect(400);
    const none = await reprice([]);
    const promote = `/v1/repricings/${none.repricingId}/promote`;
    await tenant.post(promote, { fromDate: '2026-05-01' }).expect(400);
  });

  // spec/beyond.md R220, R221
  it('an event that could not be rated keeps its charges', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, '100', '5'));
    const rows = [{ priceDimName: 'api_calls', label: 'API calls', ...tiers([0, 10, 1]) }];
    const output = await reprice([{ kind: 'rateCard', serviceId, currency: 'USD', rows }]);
    // 100 is above the tiers and stays 1.00; 5 at 1
    expect(output).to.deep.include({ before: usd(1.05), after: usd(6) });
    expect(output.rejected).to.deep.equal([{ code: 'VOLUME_ABOVE_TIERS', events: 1 }]);
  });

  // spec/beyond.md R220
  it('pricing logic in place of none, and tiers in place of a flat price', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(...calls('acme', serviceId, '10.5', '20'));
    const logic = {
      kind: 'pricingLogic',
      serviceId,
      name: 'Whole calls',
      priceOutput: 'total',
      transactionDimension: 'Billed account',
      steps: [
        { name: 'calls', formula: 'Ceil(api_calls)' },
        { name: 'total', formula: 'Price(api_calls, calls) * 2' },
      ],
    };
    const output = await reprice([logic]);
    // 0.105 + 0.2; 11 and 20 calls, twice: 0.22 + 0.40
    expect(output).to.deep.include({ before: usd(0.305), after: usd(0.62) });
    const rows = [
      {
        priceDimName: 'api_calls',
        label: 'API calls',
        ...tiers([0, 10, 0], [10, null, 1]),
      },
    ];
    // Not metered: each by itself, 0.5 and 10.
    const tiered = await reprice([{ kind: 'rateCard', serviceId, currency: 'USD', rows }]);
    expect(tiered).to.deep.include({ after: usd(10.5) });
  });
});
