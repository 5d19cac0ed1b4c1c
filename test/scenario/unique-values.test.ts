import { expect } from 'chai';
import { keepFor, removeAllAged } from '../support/ageing.js';
import { tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

interface Shown {
  readonly status: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly ratedTransactions: readonly {
    readonly amount: number;
    readonly quantity: number;
    readonly matches: boolean;
    readonly explanation: {
      readonly rows: readonly { readonly counter: { before: string; after: string } }[];
    };
  }[];
}

// spec/beyond.md R307
describe('counters of values', () => {
  const story = useStory({ forEachTest: true });
  const { tenant, instance } = story;
  const reason = 'It was wrong.';
  /** Two users of a month at 1.00 each, all others at 0.50. */
  const rows = [{ priceDimName: 'users', label: 'Users', ...tiers([0, 2, 1], [2, null, 0.5]) }];
  const serviceOf = (more: object = {}, cards: object[] = [usdCard(...rows)]) =>
    story.service('Portal', {
      priceableAttributes: [
        {
          name: 'users',
          dimensionDataType: 'Number',
          isMeterDimension: true,
          meterResetFrequency: 'Monthly',
          aggregation: 'UNIQUE',
          uniqueDimension: 'user',
        },
      ],
      rateCards: cards,
      ...more,
    });
  const by = (serviceId: string, id: string, user: string | null, day = '2026-03-02') =>
    usage('acme', serviceId, {
      externalTransactionId: id,
      eventTimestamp: `${day}T12:00:00Z`,
      dimensions: user === null ? { users: '1' } : { user },
    });
  const amounts = async (...ids: string[]) => {
    const found: (number | string | null)[] = [];
    for (const id of ids) {
      const event = (await story.event(id)) as Shown;
      const [charge] = event.ratedTransactions;
      if (charge) expect(charge.matches, id).to.equal(true);
      found.push(charge?.amount ?? event.code);
    }
    return found;
  };
  const differences = async (): Promise<number> => {
    const data = { periodStart: '2026-03-01', periodEnd: '2026-04-30' };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    return body.output.differenceCount as number;
  };
  const cancel = (id: string) =>
    tenant.post(`/v1/usage-events/${id}/cancel`, { reason }).expect(200);

  it('charge a value once in a period, whoever brings it again', async () => {
    await story.account('acme');
    const serviceId = await serviceOf();
    await story.send(
      by(serviceId, 'a1', 'ana'),
      by(serviceId, 'b1', 'ben'),
      by(serviceId, 'a2', 'ana', '2026-03-31'),
      by(serviceId, 'c1', 'cleo'),
      by(serviceId, 'a3', 'ana', '2026-04-01'),
      by(serviceId, 'none', null),
    );
    expect(await amounts('a1', 'b1', 'a2', 'c1', 'a3', 'none')).to.deep.equal([
      1,
      1,
      0,
      0.5,
      1,
      'INVALID_DIMENSION',
    ]);
    const none = (await story.event('none')) as Shown;
    expect(none.reason).to.equal(
      "Dimension 'user' is missing: 'users' counts its different values",
    );
    const again = ((await story.event('a2')) as Shown).ratedTransactions[0];
    expect(again?.quantity).to.equal(0);
    expect(again?.explanation.rows[0]?.counter).to.include({ before: '2', after: '2' });
    const { body } = await tenant.get('/v1/usage?bucket=month').expect(200);
    const totals = (body.data as { quantity: number; amount: number }[]).map(
      ({ quantity, amount }) => [quantity, amount],
    );
    expect(totals).to.deep.equal([
      [3, 2.5],
      [1, 1],
    ]);
    expect(await differences()).to.equal(0);
  });

  it('are the same in a simulation, which leaves nothing behind', async () => {
    await story.account('acme');
    const serviceId = await serviceOf({
      inputAttributes: [{ name: 'user', dimensionDataType: 'Number' }],
    });
    await story.send(by(serviceId, 'one', '1'));
    const bodies = ['1.0', '2', '02.00', '3'].map((user, index) => ({
      message: by(serviceId, `s${index}`, user),
    }));
    for (let time = 1; time <= 2; time += 1) {
      const { body } = await tenant.post('/v1/usage-events/simulate', bodies).expect(200);
      const shown = (body as Shown[]).map(
        ({ ratedTransactions: [charge] }) => charge?.amount ?? null,
      );
      // 1.0 is the 1 that is known; 2 is the second, 02.00 it again, 3 the third
      expect(shown).to.deep.equal([0, 1, 0, 0.5]);
    }
  });

  it('are charged to the next who brings a value when the first is canceled', async () => {
    await story.account('acme');
    const serviceId = await serviceOf();
    const sent = [
      by(serviceId, 'a1', 'ana'),
      by(serviceId, 'b1', 'ben'),
      by(serviceId, 'a2', 'ana'),
      by(serviceId, 'c1', 'cleo'),
      by(serviceId, 'a3', 'ana'),
    ];
    await story.send(...sent);
    await cancel('a1');
    // ben is the first, ana comes second with a2
    expect(await amounts('b1', 'a2', 'c1', 'a3')).to.deep.equal([1, 1, 0.5, 0]);
    const message = by(serviceId, 'b1', 'ana');
    await tenant.post('/v1/usage-events/b1/amend', { reason, message }).expect(200);
    // ana, ana, cleo, ana
    expect(await amounts('b1', 'a2', 'c1', 'a3')).to.deep.equal([1, 0, 1, 0]);
    await story.send(by(serviceId, 'b2', 'ben'), by(serviceId, 'c2', 'cleo'));
    expect(await amounts('b2', 'c2')).to.deep.equal([0.5, 0]);
    expect(await differences()).to.equal(0);
  });

  it('stay exact when the messages are gone', async () => {
    await story.account('acme');
    const serviceId = await serviceOf();
    await story.send(
      by(serviceId, 'a1', 'ana'),
      by(serviceId, 'b1', 'ben'),
      by(serviceId, 'a2', 'ana'),
      by(serviceId, 'c1', 'cleo'),
    );
    await keepFor(instance, tenant, 'messages', 1);
    await removeAllAged(tenant, 'messages', 2);
    await cancel('a1');
    expect(await amounts('b1', 'a2', 'c1')).to.deep.equal([1, 1, 0.5]);
    await cancel('a2');
    expect(await amounts('b1', 'c1')).to.deep.equal([1, 1]);
    await story.send(by(serviceId, 'a3', 'ana'), by(serviceId, 'b2', 'ben'));
    expect(await amounts('a3', 'b2')).to.deep.equal([0.5, 0]);
    expect(await differences()).to.equal(0);
  });

  it('count once what is rated at once, from the log and again', async () => {
    await story.account('acme');
    const serviceId = await serviceOf({}, []);
    const user = (index: number) => `user-${index % 10}`;
    const of = (kind: string) =>
      Array.from({ length: 60 }, (_, index) => by(serviceId, `${kind}${index}`, user(index)));
    await story.send(...of('late'));
    expect(await amounts('late0')).to.deep.equal(['NO_RATE_CARD']);
    await tenant.post(`${external}/services/${serviceId}/rate-cards`, usdCard(...rows)).expect(201);
    const retries = Array.from({ length: 4 }, (_, index) =>
      tenant.post('/v1/usage-events/retry', index === 0 ? {} : { code: 'NO_RATE_CARD' }),
    );
    const batch = of('new').map((message) => ({ message }));
    const [, ...answers] = await Promise.all([
      tenant.post('/v1/ingest/usage/batch', batch).expect(200),
      ...retries,
    ]);
    expect(answers.filter(({ status }) => status >= 500)).to.deep.equal([]);
    await tenant.post('/v1/usage-events/retry', {}).expect(200);
    await story.rated();
    const { body } = await tenant.get('/v1/usage?bucket=none').expect(200);
    // 10 users: 2 at 1.00 and 8 at 0.50
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.include({ quantity: 10, amount: 6 });
    expect(await differences()).to.equal(0);
  });

  it('are tried with other prices, and in other periods', async () => {
    await story.account('acme');
    const serviceId = await serviceOf();
    await story.send(
      by(serviceId, 'a1', 'ana'),
      by(serviceId, 'b1', 'ben'),
      by(serviceId, 'a2', 'ana', '2026-03-03'),
      by(serviceId, 'a3', 'ana', '2026-03-03'),
    );
    const what = async (row: object) => {
      const change = { kind: 'rateCard', serviceId, currency: 'USD', rows: [row] };
      const data = { name: 'Try', from: '2026-03-01', to: '2026-04-01', changes: [change] };
      const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
      expect(body.status, JSON.stringify(body.error)).to.equal('completed');
      return body.output;
    };
    const row = { priceDimName: 'users', label: 'Users' };
    // 2 users at 3.00
    const dearer = await what({ ...row, ...tiers([0, null, 3]) });
    expect(dearer.before).to.deep.equal([{ currency: 'USD', amount: 2 }]);
    expect(dearer.after).to.deep.equal([{ currency: 'USD', amount: 6 }]);
    // 2 users on the 2nd, 1 on the 3rd
    const daily = await what({ ...row, ...tiers([0, null, 3]), resetFrequency: 'Daily' });
    expect(daily.after).to.deep.equal([{ currency: 'USD', amount: 9 }]);
    const { body: accounts } = await tenant
      .get(`/v1/repricings/${daily.repricingId}/accounts`)
      .expect(200);
    const path = `/v1/repricings/${daily.repricingId}/accounts/${accounts.data[0].accountId}/charges`;
    const { body: charges } = await tenant.get(`${path}?explain=true`).expect(200);
    const shown = charges.data.map((charge: { after: number; afterExplanation: object }) => [
      charge.after,
      (charge.afterExplanation as { total: { amount: string } }).total.amount,
    ]);
    expect(shown).to.deep.equal([
      [3, '3'],
      [3, '3'],
      [3, '3'],
      [0, '0'],
    ]);
  });
});
