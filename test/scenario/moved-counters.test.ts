import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { meteredService, tiers, usage } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';

interface Counter {
  readonly before: string;
  readonly after: string;
}

interface Charge {
  readonly amount: number;
  readonly matches: boolean;
  readonly explanation: { readonly rows: readonly { readonly counter: Counter }[] };
}

interface Repriced {
  readonly externalTransactionId: string;
  readonly before: number;
  readonly after: number;
  readonly afterExplanation: Charge['explanation'];
}

/** A correction moves a counter under later usage that costs what it did. */
describe('counters that a correction has moved', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'The meter was read wrong.';
  const march = { from: '2026-03-01', to: '2026-04-01' };
  const [attribute] = meteredService.priceableAttributes;

  /** A metered service of one row, priced and aggregated like this. */
  const metered = (price: object, aggregation: object = {}): Promise<string> =>
    story.service('Metered', {
      priceableAttributes: [{ ...attribute, ...aggregation }],
      rateCards: [
        { currency: 'USD', rows: [{ priceDimName: 'api_calls', label: 'Calls', ...price }] },
      ],
    });
  const messageOf = (serviceId: string, id: string, calls: number, user?: string) =>
    usage('acme', serviceId, {
      externalTransactionId: id,
      dimensions: { api_calls: String(calls), ...(user === undefined ? {} : { user }) },
    });
  const amend = (serviceId: string, id: string, calls: number, user?: string) =>
    tenant
      .post(`/v1/usage-events/${id}/amend`, {
        reason,
        message: messageOf(serviceId, id, calls, user),
      })
      .expect(200);
  const told = ({ explanation }: { explanation: Charge['explanation'] }): string => {
    const counter = explanation.rows[0]?.counter;
    return `${counter?.before} to ${counter?.after}`;
  };
  /** Where the counter stands before and after an event, as its charge explains it. */
  const placeOf = async (id: string, query = ''): Promise<string> => {
    const { body } = await tenant.get(`/v1/usage-events/${id}${query}`).expect(200);
    const [charge] = body.ratedTransactions as Charge[];
    expect(charge?.matches, id).to.equal(true);
    return charge ? told(charge) : 'none';
  };
  const reprice = async (changes: readonly object[]) => {
    const data = { name: 'Try', ...march, changes };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    const path = `/v1/repricings/${body.output.repricingId}/accounts/acme/charges`;
    const { body: charges } = await tenant.get(path).expect(200);
    return {
      total: body.output.after[0]?.amount as number,
      charges: (charges.data as Repriced[]).map(
        (one) =>
          `${one.externalTransactionId} ${one.after} ${told({ explanation: one.afterExplanation })}`,
      ),
    };
  };
  const rerate = async (): Promise<{ changed: number }> => {
    const data = { ...march, reason };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };

  // spec/beyond.md R149, R202, R219
  it('packages: what explains a charge that costs the same, and a what-if, begin where it stands', async () => {
    await story.account('acme');
    const serviceId = await metered({ priceMethod: 'PACKAGE', packageSize: 10, unitRate: 5 });
    await story.send(
      messageOf(serviceId, 'p1', 7),
      messageOf(serviceId, 'p2', 5),
      messageOf(serviceId, 'p3', 9),
    );
    // 7 begins one package, 12 a second, 21 a third.
    expect([await placeOf('p2'), await placeOf('p3')]).to.deep.equal(['7 to 12', '12 to 21']);
    await wait(5);
    const earlier = new Date().toISOString();
    await wait(5);
    await amend(serviceId, 'p1', 1);
    // 1 begins one, 6 none, 15 a second: p2 costs nothing, p3 costs 5 still.
    expect([await placeOf('p2'), await placeOf('p3')]).to.deep.equal(['1 to 6', '6 to 15']);
    expect(await placeOf('p3', `?knownOn=${earlier}`)).to.equal('12 to 21');
    const { body: list } = await tenant.get('/v1/corrections').expect(200);
    expect(list.data[0]).to.include({ changed: 2 });
    // Twice as much: 2, 12, 30 begin one, two and three packages.
    expect(await reprice([{ kind: 'usage', factor: 2 }])).to.deep.equal({
      total: 15,
      charges: ['p1 5 0 to 2', 'p2 5 2 to 12', 'p3 5 12 to 30'],
    });
    expect((await reprice([])).charges.at(-1)).to.equal('p3 5 6 to 15');
    // What was corrected before places were kept is mended by rating the range again.
    await tenant.scope.db.transaction((trx) => trx('usageChargePlace').delete());
    expect(await placeOf('p3')).to.equal('12 to 21');
    expect(await rerate()).to.include({ changed: 0 });
    expect(await placeOf('p3')).to.equal('6 to 15');
    // A second correction begins where the first has left the counters: 2, 7, 16.
    await amend(serviceId, 'p1', 2);
    expect([await placeOf('p2'), await placeOf('p3')]).to.deep.equal(['2 to 7', '7 to 16']);
    const { body: audit } = await tenant
      .post('/v1/workflows/audit-usage/execute', {
        data: { periodStart: '2026-03-01', periodEnd: '2026-03-31' },
      })
      .expect(200);
    expect(audit.output).to.include({ differenceCount: 0 });
  });

  // spec/beyond.md R149
  it('each correction explains its own charges as it has found and left them', async () => {
    await story.account('acme');
    const serviceId = await metered({ priceMethod: 'PACKAGE', packageSize: 10, unitRate: 5 });
    await story.send(
      messageOf(serviceId, 'p1', 7),
      messageOf(serviceId, 'p2', 5),
      messageOf(serviceId, 'p3', 9),
    );
    await amend(serviceId, 'p1', 1);
    // p3 goes from 6 to 15; now that p2 has 8 it goes from 9 to 18, and then it is gone.
    await amend(serviceId, 'p2', 8);
    await tenant.post('/v1/usage-events/p3/cancel', { reason }).expect(200);
    const { body: list } = await tenant.get('/v1/corrections').expect(200);
    const [canceled, second] = list.data as { id: string; kind: string }[];
    expect(canceled?.kind).to.equal('cancel');
    const explained = async (id: string | undefined) =>
      (await tenant.get(`/v1/corrections/${id}/charges?explain=true`).expect(200)).body.data;
    const [gone] = await explained(canceled?.id);
    expect(told({ explanation: gone.beforeExplanation })).to.equal('9 to 18');
    const [p2] = await explained(second?.id);
    expect(told({ explanation: p2.beforeExplanation })).to.equal('1 to 6');
    expect(told({ explanation: p2.afterExplanation })).to.equal('1 to 9');
  });

  // [what, its price, how it is aggregated, what p1 has first and then, before and after p3 then]
  const flat = tiers([0, 1000, 0], [1000, null, 1]);
  const kinds = [
    ['free tiers', flat, {}, 7, 1, '6 to 15'],
    ['whole volumes', { ...flat, priceMethod: 'VOLUME' }, {}, 7, 1, '6 to 15'],
    ['the greatest', flat, { aggregation: 'MAX' }, 20, 12, '12 to 12'],
    ['the last', flat, { aggregation: 'LAST' }, 7, 1, '5 to 9'],
    ['the different', flat, { aggregation: 'UNIQUE', uniqueDimension: 'user' }, 7, 1, '2 to 2'],
  ] as const;
  for (const [what, price, aggregation, first, then, place] of kinds) {
    // spec/beyond.md R149, R292, R307
    it(`${what}: a charge of nothing stands where its counter does`, async () => {
      await story.account('acme');
      const serviceId = await metered(price, aggregation);
      const user = (name: string) => ('uniqueDimension' in aggregation ? name : undefined);
      await story.send(
        messageOf(serviceId, 'p0', 0, user('a')),
        messageOf(serviceId, 'p1', first, user('b')),
        messageOf(serviceId, 'p2', 5, user('c')),
        messageOf(serviceId, 'p3', 9, user('a')),
      );
      await amend(serviceId, 'p1', then, user('a'));
      expect(await placeOf('p3')).to.equal(place);
    });
  }
});
