import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { meteredService, tiers, usage, type Message } from '../support/billing/usage.js';
import { external, type TestTenant } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

/** What happens to usage, one after another; `of` chooses one of the events that stand. */
type Step =
  | {
      readonly kind: 'send';
      readonly calls: number;
      readonly day: number;
      readonly account: number;
    }
  | { readonly kind: 'cancel'; readonly of: number }
  | {
      readonly kind: 'amend';
      readonly of: number;
      readonly calls: number;
      readonly day: number;
      readonly account: number;
    }
  | { readonly kind: 'price'; readonly free: number; readonly cents: number }
  | { readonly kind: 'rerate' };

/** How the service is priced and metered, one after another of the runs. */
const meters = [
  { method: 'TIERED' },
  { method: 'PACKAGE' },
  { method: 'VOLUME' },
  { method: 'TIERED', aggregation: 'MAX' },
  { method: 'PACKAGE', aggregation: 'LAST' },
  { method: 'TIERED', aggregation: 'UNIQUE', uniqueDimension: 'user' },
] as const;
type Meter = (typeof meters)[number];

interface Explained {
  readonly rows: readonly { readonly counter: { before: string; after: string } }[];
}

const accounts = ['acme', 'globex'];
const content = {
  calls: fc.integer({ min: 0, max: 1500 }),
  day: fc.integer({ min: 10, max: 28 }),
  account: fc.integer({ min: 0, max: 1 }),
};
const of = fc.nat();
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), ...content }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), of }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('amend' as const), of, ...content }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('price' as const),
      free: fc.integer({ min: 1, max: 2_000 }),
      cents: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'rerate' as const }) },
);

describe('property: corrections', () => {
  const story = useStory({ forEachTest: true });
  const reason = 'It was wrong.';

  const messageOf = (
    meter: Meter,
    serviceId: string,
    id: string,
    { calls, day, account }: { calls: number; day: number; account: number },
  ): Message =>
    usage(accounts[account] ?? '', serviceId, {
      externalTransactionId: id,
      dimensions: {
        api_calls: String(calls),
        ...('uniqueDimension' in meter ? { user: String(calls % 5) } : {}),
      },
      eventTimestamp: `2026-03-${day}T12:00:00Z`,
    });
  const rowsOf = ({ method }: Meter, free: number, cents: number) => [
    {
      priceDimName: 'api_calls',
      label: 'API calls',
      ...(method === 'PACKAGE'
        ? { packageSize: free, unitRate: cents / 100 }
        : tiers([0, free, 0], [free, free + 3_000, cents / 100], [free + 3_000, null, 0.001])),
      priceMethod: method,
    },
  ];
  const cardOf = (meter: Meter, fromDate: string, free: number, cents: number) => ({
    currency: 'USD',
    fromDate,
    rows: rowsOf(meter, free, cents),
  });
  const rerate = async (tenant: TestTenant): Promise<{ changed: number }> => {
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const totals = async (tenant: TestTenant, query = ''): Promise<unknown> =>
    (await tenant.get(`/v1/usage?groupBy=account&bucket=day${query}`).expect(200)).body.data;
  /** An amount, and where its counter stands before and after it by its explanation. */
  const told = (amount: number | undefined, explanation: Explained | undefined): string => {
    const counter = explanation?.rows[0]?.counter;
    return `${amount}, ${counter?.before} to ${counter?.after}`;
  };
  /** The charges that stand, by the external id of their event. */
  const booksOf = async (tenant: TestTenant): Promise<Record<string, string>> => {
    const { body } = await tenant.get('/v1/usage-events?status=rated&limit=1000').expect(200);
    const charges: Record<string, string> = {};
    for (const { externalTransactionId: id } of body.data as { externalTransactionId: string }[]) {
      const { body: event } = await tenant.get(`/v1/usage-events/${id}`).expect(200);
      const [charge] = event.ratedTransactions as {
        amount: number;
        matches: boolean;
        explanation: Explained;
      }[];
      expect(charge?.matches, `${id} explains itself`).to.equal(true);
      charges[id] = told(charge?.amount, charge?.explanation);
    }
    return charges;
  };
  /** What each charge would be, with more usage and other prices, by the external id of its event. */
  const triedOf = async (tenant: TestTenant, serviceId: string, meter: Meter) => {
    const card = { kind: 'rateCard', serviceId, currency: 'USD', rows: rowsOf(meter, 700, 7) };
    const data = { name: 'Try', from: '2026-03-01', to: '2026-04-01' };
    const tried: Record<string, string> = {};
    for (const changes of [[], [{ kind: 'usage', factor: 2 }], [card]]) {
      const { body } = await tenant
        .post('/v1/workflows/reprice/execute', { data: { ...data, changes } })
        .expect(200);
      expect(body.status, JSON.stringify(body.error)).to.equal('completed');
      for (const account of accounts) {
        const path = `/v1/repricings/${body.output.repricingId}/accounts/${account}/charges`;
        const { body: charges } = await tenant.get(path).expect(200);
        for (const one of charges.data as {
          externalTransactionId: string;
          after: number;
          afterExplanation: Explained;
        }[]) {
          const key = `${one.externalTransactionId} with ${JSON.stringify(changes[0]?.kind)}`;
          tried[key] = told(one.after, one.afterExplanation);
        }
      }
    }
    return tried;
  };
  const countersOf = async (tenant: TestTenant): Promise<string[]> => {
    const { rows } = await tenant.scope.db.read.raw<{ rows: { value: string }[] }>(
      `select trim_scale(value)::text || ' of ' || account.external_id as value
       from usage_counter join account on account.tenant_id = usage_counter.tenant_id
         and account.id = usage_counter.owner_id
       where usage_counter.tenant_id = ? and value <> 0 order by 1`,
      [tenant.id],
    );
    return rows.map(({ value }) => value);
  };
  const open = async (of_: typeof story, meter: Meter): Promise<string> => {
    for (const account of accounts) await of_.account(account);
    const [attribute] = meteredService.priceableAttributes;
    return of_.service('Metered', {
      priceableAttributes: [{ ...attribute, ...meter, method: undefined }],
      rateCards: [{ currency: 'USD', rows: rowsOf(meter, 1_000, 2) }],
    });
  };

  // spec/beyond.md R149, R202, R210, R212, R219
  for (const [index, steps] of fc
    .sample(fc.array(step, { minLength: 6, maxLength: 14 }), { numRuns: 12, seed: 371 })
    .entries()) {
    const meter = meters[index % meters.length] ?? meters[0];
    const { method, aggregation } = { aggregation: 'SUM', ...meter };
    it(`leave what rating the truth once from the start gives, by ${method} and ${aggregation} (${index})`, async () => {
      const { tenant } = story;
      const serviceId = await open(story, meter);
      const truth = new Map<string, Message>();
      const prices: object[] = [];
      const shown: { readonly at: string; readonly totals: unknown }[] = [];
      const chosen = (of_: number): string => [...truth.keys()][of_ % truth.size] ?? '';
      for (const [number, one] of steps.entries()) {
        if (one.kind === 'send') {
          const message = messageOf(meter, serviceId, `e-${number}`, one);
          truth.set(`e-${number}`, message);
          await story.send(message);
        } else if (one.kind === 'price') {
          // The newest begins last, so that it holds for all usage.
          const card = cardOf(meter, `2026-03-0${prices.length + 1}`, one.free, one.cents);
          prices.push(card);
          const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
          await tenant.post(path, card).expect(201);
        } else if (one.kind === 'rerate') await rerate(tenant);
        else if (truth.size > 0) {
          const id = chosen(one.of);
          const path = `/v1/usage-events/${id}/${one.kind}`;
          if (one.kind === 'cancel') {
            truth.delete(id);
            await tenant.post(path, { reason }).expect(200);
          } else {
            const message = messageOf(meter, serviceId, id, one);
            truth.set(id, message);
            await tenant.post(path, { reason, message }).expect(200);
          }
        }
        await wait(3);
        shown.push({ at: new Date().toISOString(), totals: await totals(tenant) });
        await wait(3);
      }
      await rerate(tenant);
      expect((await rerate(tenant)).changed).to.equal(0);
      for (const { at, totals: known } of shown) {
        expect(await totals(tenant, `&knownOn=${at}`), `as known on ${at}`).to.deep.equal(known);
      }
      const once = story.as(await story.instance.tenant());
      const sameService = await open(once, meter);
      const path = `${external}/services/${sameService}/rate-cards/USD/versions`;
      for (const card of prices) await once.tenant.post(path, card).expect(201);
      // In the order of the log: an amended event stays in its place.
      for (const message of truth.values()) {
        await once.send({ ...message, serviceId: sameService });
      }
      expect(await booksOf(tenant)).to.deep.equal(await booksOf(once.tenant));
      expect(await countersOf(tenant)).to.deep.equal(await countersOf(once.tenant));
      expect(await triedOf(tenant, serviceId, meter)).to.deep.equal(
        await triedOf(once.tenant, sameService, meter),
      );
    }).timeout(120_000);
  }
});
