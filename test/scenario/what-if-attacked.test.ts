import { expect } from 'chai';
import { usage, type Message } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

/** What somebody does to what-ifs and corrections who knows nothing of them but their contract. */
describe('what-ifs, used by a stranger', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const range = { from: '2026-03-01', to: '2026-04-01' };
  const usd = (amount: number) => [{ currency: 'USD', amount }];
  const flat = (unitRate: number) => [
    { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate },
  ];
  const card = (serviceId: string, unitRate: number) => ({
    kind: 'rateCard',
    serviceId,
    currency: 'USD',
    rows: flat(unitRate),
  });
  const calls = (serviceId: string, api_calls: string, more: Message = {}): Message =>
    usage('acme', serviceId, { dimensions: { api_calls }, ...more });
  const send = (data: object) =>
    tenant.post('/v1/workflows/reprice/execute', { data: { name: 'Try', ...range, ...data } });
  const reprice = async (changes: readonly object[], more: object = {}) => {
    const { body } = await send({ changes, ...more }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const promote = (id: string, body: object) => tenant.post(`/v1/repricings/${id}/promote`, body);
  const versionsOf = async (serviceId: string): Promise<number> => {
    const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    return (await tenant.get(path).expect(200)).body.totalElements;
  };

  // spec/beyond.md R227
  it('of ten that promote at once, one does; a day that is taken leaves nothing', async () => {
    await story.account('acme');
    const [one, other] = [await story.service('One'), await story.service('Other')];
    await story.send(calls(one, '100'));
    const { repricingId } = await reprice([card(one, 0.02), card(other, 0.02)]);
    const path = `${external}/services/${other}/rate-cards/USD/versions`;
    const taken = { currency: 'USD', rows: flat(3), fromDate: '2026-05-01' };
    await tenant.post(path, taken).expect(201);
    await promote(repricingId, { fromDate: '2026-05-01' }).expect(409);
    expect(await versionsOf(one)).to.equal(1);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => promote(repricingId, { fromDate: '2026-05-02' })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, ...Array.from({ length: 9 }, () => 409)]);
    expect([await versionsOf(one), await versionsOf(other)]).to.deep.equal([2, 3]);
    for (const body of [{}, { fromDate: 'soon' }, { fromDate: null }, { fromDate: '2026-02-30' }]) {
      await promote(repricingId, body).expect(400);
    }
  });

  // spec/beyond.md R227, R231
  it('several that change the same services in another order do not get into each other', async () => {
    await story.account('acme');
    const [one, other] = [await story.service('One'), await story.service('Other')];
    const tried: string[] = [];
    for (const [first, second] of [one, other, one, other].map((id) => [
      id,
      id === one ? other : one,
    ])) {
      const changes = [card(first ?? '', 0.02), card(second ?? '', 0.02)];
      tried.push((await reprice(changes)).repricingId);
    }
    const answers = await Promise.all(
      tried.map((id, index) => promote(id, { fromDate: `2026-06-0${index + 1}` })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect([await versionsOf(one), await versionsOf(other)]).to.deep.equal([5, 5]);
    const same = await Promise.all([reprice([card(one, 1)]), reprice([card(one, 2)])]);
    const both = await Promise.all(
      same.map(({ repricingId }) => promote(repricingId, { fromDate: '2026-07-01' })),
    );
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    expect(await versionsOf(one)).to.equal(6);
  });

  // spec/beyond.md R150
  it('two changes of one card, or of one logic, contradict each other', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const { lines } = await story.subscribe(await story.account('globex'), [serviceId], {
      startDate: '2026-01-01',
      currency: 'USD',
    });
    const exception = {
      kind: 'exceptionCard',
      contractServiceId: lines[0]?.id,
      currency: 'USD',
      rows: flat(1),
    };
    const logic = {
      kind: 'pricingLogic',
      serviceId,
      name: 'Twice',
      priceOutput: 'total',
      transactionDimension: 'Billed account',
      steps: [{ name: 'total', formula: 'Price(api_calls, api_calls) * 2' }],
    };
    for (const change of [card(serviceId, 1), exception, logic]) {
      const { body } = await send({
        changes: [change, { kind: 'usage', factor: 2 }, change],
      }).expect(400);
      expect(body.error.message).to.match(/'changes\[2\]' .* 'changes\[0\]'/);
    }
    await send({ changes: [card(serviceId, 1), exception, logic] }).expect(200);
  });

  // spec/beyond.md R218, R220
  it('what was canceled or amended counts as it stands', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls');
    const [a, b, c] = await story.send(
      calls(serviceId, '100'),
      calls(serviceId, '200'),
      calls(serviceId, '400'),
    );
    const reason = 'It was wrong.';
    await tenant.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200);
    const moved = usage('globex', serviceId, { dimensions: { api_calls: '50' } });
    const message = { ...moved, externalTransactionId: b };
    await tenant.post(`/v1/usage-events/${b}/amend`, { reason, message }).expect(200);
    const later = calls(serviceId, '400', {
      externalTransactionId: c ?? '',
      eventTimestamp: '2026-04-01T00:00:00Z',
    });
    await tenant.post(`/v1/usage-events/${c}/amend`, { reason, message: later }).expect(200);
    // Of acme nothing is left in March; 50 calls of globex at 0.01 and at 0.02.
    const output = await reprice([card(serviceId, 0.02)]);
    expect(output).to.deep.include({ events: 1, accounts: 1, before: usd(0.5), after: usd(1) });
    const all = await reprice([card(serviceId, 0.02)], { to: '2026-04-02' });
    // 400 more: 4.00 and 8.00
    expect(all).to.deep.include({ events: 2, accounts: 2, before: usd(4.5), after: usd(9) });
  });

  // spec/beyond.md R218, R220, R223
  it('edges: an empty range, no usage at all, amounts beyond reason', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(calls(serviceId, '100'));
    const { body } = await send({ changes: [card(serviceId, 1)], to: range.from }).expect(400);
    expect(body.error.message).to.equal(
      `'from' must be before 'to': '${range.from}' is not before '${range.from}'`,
    );
    const nothing = { events: 0, accounts: 0, before: [], after: [] };
    const unused = { from: '2020-01-01', to: '2020-01-02' };
    expect(await reprice([card(serviceId, 1)], unused)).to.deep.include(nothing);
    const gone = await reprice([{ kind: 'usage', factor: 0 }], {
      guard: { accountChangeMax: 100 },
    });
    expect(gone).to.deep.include({ after: usd(0) });
    expect(gone.change).to.deep.include({ min: -100, max: -100 });
    expect(gone.guard.passed).to.equal(true);
    const still = await reprice([], { guard: { accountChangeMax: 0, totalDecreaseMax: 0 } });
    expect(still.guard.passed).to.equal(true);
    // 1.00 a billion times.
    const { after } = await reprice([{ kind: 'usage', factor: 1_000_000_000 }]);
    expect(after).to.deep.equal(usd(1_000_000_000));
    const many = Array.from({ length: 101 }, () => ({ kind: 'usage', factor: 1 }));
    await send({ changes: many }).expect(400);
    await send({ changes: [], name: 'x'.repeat(256) }).expect(400);
    await send({ changes: [], accountIds: [] }).expect(400);
  });

  // spec/beyond.md R11, R232
  it('natural keys name accounts and services, in what-ifs and when a range is rated again', async () => {
    const acme = await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls');
    const other = usage('globex', serviceId, { dimensions: { api_calls: '7' } });
    await story.send(calls(serviceId, '100'), other);
    const only = { accountIds: ['acme', acme], serviceIds: ['Calls'] };
    const output = await reprice([{ ...card(serviceId, 0.03), serviceId: 'Calls' }], only);
    // 100 at 0.01 and at 0.03
    expect(output).to.deep.include({ events: 1, accounts: 1, before: usd(1), after: usd(3) });
    const { body } = await tenant.get(`/v1/repricings/${output.repricingId}`).expect(200);
    expect(body).to.deep.include({ accountIds: [acme], serviceIds: [serviceId] });
    const rerate = (data: object) =>
      tenant.post('/v1/workflows/rerate-usage/execute', {
        data: { ...range, reason: 'Again.', dryRun: true, ...data },
      });
    const again = await rerate({ accountId: 'acme', serviceId: 'Calls' }).expect(200);
    expect(again.body.output).to.include({ events: 1, changed: 0 });
    await rerate({ accountId: 'nobody' }).expect(400);
    const unknown = await send({ changes: [], accountIds: ['acme', 'nobody'] }).expect(400);
    expect(unknown.body.error.details.field).to.equal('accountIds[1]');
    await send({ changes: [], serviceIds: ['Nothing'] }).expect(400);
  });

  // spec/beyond.md R233
  it('more usage of a dimension that nothing has is refused, with its place and name', async () => {
    await story.account('acme');
    const [one, other] = [
      await story.service('One'),
      await story.service('Other', {
        priceableAttributes: [{ name: 'seats', dimensionDataType: 'Number' }],
        rateCards: [],
      }),
    ];
    await story.send(
      usage('acme', one, {
        eventTimestamp: '2026-03-10T12:00:00Z',
        dimensions: { api_calls: '100' },
      }),
    );
    const execute = (change: object, status: number) =>
      tenant
        .post('/v1/workflows/reprice/execute', {
          data: { name: 'x', ...range, changes: [{ kind: 'usage', factor: 2, ...change }] },
        })
        .expect(status);
    const refused: readonly (readonly [object, string])[] = [
      [{ attribute: 'api_cals' }, 'api_cals'],
      [{ attribute: 'API_CALLS' }, 'API_CALLS'],
      [{ serviceId: other, attribute: 'api_calls' }, 'api_calls'],
    ];
    for (const [change, name] of refused) {
      const { body } = await execute(change, 400);
      expect(body.error.details.field).to.equal('changes[0].attribute');
      expect(body.error.message).to.include(`'${name}'`);
    }
    const { body: list } = await tenant.get('/v1/repricings').expect(200);
    expect(list.data).to.deep.equal([]);
    // 100 calls cost 1.00, 200 cost 2.00
    for (const change of [{ attribute: 'api_calls' }, { serviceId: one, attribute: 'api_calls' }]) {
      const { body } = await execute(change, 200);
      expect(body.output.after).to.deep.equal([{ currency: 'USD', amount: 2 }]);
    }
  });

  // spec/beyond.md R224 to R226
  it('all but the newest twenty are told of, and have no accounts and charges any more', async () => {
    const acme = await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(calls(serviceId, '100'));
    const { repricingId } = await reprice([card(serviceId, 1)]);
    const of = `/v1/repricings/${repricingId}`;
    const details = [`${of}/accounts`, `${of}/accounts/${acme}/charges`];
    const empty = { from: '2020-01-01', to: '2020-01-02' };
    for (let n = 0; n < 19; n += 1) await reprice([], empty);
    for (const path of details) {
      expect((await tenant.get(path).expect(200)).body.data).to.have.length(1);
    }
    for (let n = 0; n < 2; n += 1) await reprice([], empty);
    for (const path of details) {
      const { body } = await tenant.get(path).expect(409);
      expect(body.error).to.include({
        code: 'CONFLICT',
        message:
          'The accounts and charges of this repricing were removed for newer ones: execute it again.',
      });
    }
    expect((await tenant.get(of).expect(200)).body.after).to.deep.equal(usd(100));
  });

  // spec/beyond.md R226
  it('another tenant, or another account, finds nothing', async () => {
    await story.account('acme');
    const globex = await story.account('globex');
    const serviceId = await story.service('Calls');
    await story.send(calls(serviceId, '100'));
    const { repricingId } = await reprice([card(serviceId, 1)]);
    const of = `/v1/repricings/${repricingId}`;
    const { body } = await tenant.get(`${of}/accounts/${globex}/charges`).expect(200);
    expect(body.data).to.deep.equal([]);
    // No account has this id.
    await tenant.get(`${of}/accounts/${repricingId}/charges`).expect(404);
    const other = await story.instance.tenant();
    for (const path of [of, `${of}/accounts`, `${of}/accounts/${globex}/charges`]) {
      await other.get(path).expect(404);
    }
    await other.post(`${of}/promote`, { fromDate: '2026-05-01' }).expect(404);
  });

  // spec/beyond.md R201, R203, R210, R218
  it('text that cannot be stored is 400 wherever it is sent', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const [a] = await story.send(calls(serviceId, '100'));
    const event = `/v1/usage-events/${a}`;
    const same = { externalTransactionId: a ?? '' };
    for (const text of ['a\u0000b', 'a\ud800b']) {
      const bodies: readonly (readonly [path: string, body: object])[] = [
        [`${event}/cancel`, { reason: text }],
        [`${event}/amend`, { reason: text, message: calls(serviceId, '1', same) }],
        [
          `${event}/amend`,
          { reason: 'x', message: calls(serviceId, '1', { ...same, serviceInstanceId: text }) },
        ],
        [`${event}/amend`, { reason: 'x', message: usage(text, serviceId, same) }],
        [`${event}/amend`, { reason: 'x', message: calls(serviceId, text, same) }],
        ['/v1/workflows/rerate-usage/execute', { data: { ...range, reason: text } }],
        ['/v1/workflows/reprice/execute', { data: { ...range, name: text, changes: [] } }],
        [
          '/v1/workflows/reprice/execute',
          {
            data: { ...range, name: 'x', changes: [{ kind: 'usage', factor: 1, attribute: text }] },
          },
        ],
      ];
      for (const [path, body] of bodies) {
        const answer = await tenant.post(path, body);
        expect(answer.status, `${path} ${JSON.stringify(body)}`).to.equal(400);
      }
    }
    expect((await story.event(a ?? '')).ratedTransactions[0]).to.include({ amount: 1 });
  });
});
