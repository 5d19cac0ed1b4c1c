import { expect } from 'chai';
import fc from 'fast-check';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { groupUnlisted } from '../../src/models/usage/finding/usage-list.js';
import {
  meteredService,
  tiers,
  usage,
  waitUntilRated,
  type Message,
} from '../support/billing/usage.js';
import type { TestTenant } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

interface Card {
  readonly free: number;
  readonly wide: number;
  readonly cents: number;
}

/** Usage of one of two accounts. */
interface Used {
  readonly account: number;
  readonly calls: number;
}

interface Output {
  readonly repricingId: string;
  readonly events: number;
  readonly before: readonly { readonly amount: number }[];
  readonly after: readonly { readonly amount: number }[];
}

const accounts = ['acme', 'globex'];
const card: fc.Arbitrary<Card> = fc.record({
  free: fc.integer({ min: 1, max: 2_000 }),
  wide: fc.integer({ min: 1, max: 3_000 }),
  cents: fc.integer({ min: 0, max: 900 }),
});
const used: fc.Arbitrary<Used> = fc.record({
  account: fc.integer({ min: 0, max: 1 }),
  calls: fc.integer({ min: 0, max: 1_500 }),
});

const rowsOf = ({ free, wide, cents }: Card) => [
  {
    priceDimName: 'api_calls',
    label: 'API calls',
    ...tiers([0, free, 0], [free, free + wide, cents / 100], [free + wide, null, 0.003]),
  },
];

/** The whole price of a volume from zero on, by the tiers, written without the engine. */
function priceOf({ free, wide, cents }: Card, volume: Decimal): Decimal {
  const between = (from: number, to: number | null): Decimal => {
    const end = to === null ? volume : Decimal.min(volume, to);
    return Decimal.max(0, end.minus(from));
  };
  return between(free, free + wide)
    .times(cents)
    .dividedBy(100)
    .plus(between(free + wide, null).times('0.003'));
}

/** What each event costs, by account, with its volume multiplied. */
function expected(of: Card, events: readonly Used[], factor: number): Decimal[][] {
  return accounts.map((_name, account) => {
    let volume = new Decimal(0);
    return events
      .filter((event) => event.account === account)
      .map(({ calls }) => {
        const before = priceOf(of, volume);
        volume = volume.plus(new Decimal(calls).times(factor));
        return priceOf(of, volume).minus(before);
      });
  });
}

const sum = (amounts: readonly Decimal[]): Decimal =>
  amounts.reduce((total, amount) => total.plus(amount), new Decimal(0));

describe('property: what if', () => {
  const story = useStory({ forEachTest: true });
  const books: Card = { free: 1_000, wide: 9_000, cents: 2 };

  const reprice = async (tenant: TestTenant, changes: readonly object[]): Promise<Output> => {
    const data = { name: 'Try', from: '2026-03-01', to: '2026-04-01', changes };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  const charges = async (tenant: TestTenant, id: string, account: string): Promise<number[]> => {
    const path = `/v1/repricings/${id}/accounts/${account}/charges?explain=false&limit=1000`;
    const { body } = await tenant.get(path).expect(200);
    return body.data.map((one: { after: number }) => one.after);
  };
  const open = async (): Promise<string> => {
    for (const account of accounts) await story.account(account);
    const rateCards = [{ currency: 'USD', rows: rowsOf(books) }];
    return story.service('Metered', { ...meteredService, rateCards });
  };
  const messageOf = (serviceId: string, { account, calls }: Used): Message =>
    usage(accounts[account] ?? '', serviceId, { dimensions: { api_calls: String(calls) } });

  // spec/beyond.md R219, R220, R226
  for (const [index, [events, tried, factor]] of fc
    .sample(
      fc.tuple(fc.array(used, { minLength: 3, maxLength: 12 }), card, fc.constantFrom(1, 2, 0.25)),
      { numRuns: 5, seed: 376 },
    )
    .entries()) {
    it(`agrees with an independent computation, and without changes with the books (${index})`, async () => {
      const { tenant } = story;
      const serviceId = await open();
      await story.send(...events.map((event) => messageOf(serviceId, event)));
      const before = sum(expected(books, events, 1).flat()).toNumber();
      const none = await reprice(tenant, []);
      expect(none.before[0]?.amount).to.equal(before);
      expect(none.after).to.deep.equal(none.before);
      const changes = [
        { kind: 'rateCard', serviceId, currency: 'USD', rows: rowsOf(tried) },
        { kind: 'usage', factor },
      ];
      const { repricingId, after } = await reprice(tenant, changes);
      const wanted = expected(tried, events, factor);
      expect(after[0]?.amount).to.equal(sum(wanted.flat()).toNumber());
      for (const [account, name] of accounts.entries()) {
        const amounts = (wanted[account] ?? []).map((amount) => amount.toNumber());
        expect(await charges(tenant, repricingId, name)).to.deep.equal(amounts);
      }
    }).timeout(120_000);
  }

  // spec/beyond.md R229
  it('goes from portion to portion, in an account that is larger than one, listed or not yet', async () => {
    const { tenant } = story;
    const serviceId = await open();
    const events = Array.from({ length: 5_200 }, (_each, index) => ({
      account: index % 50 === 0 ? 1 : 0,
      calls: 1 + (index % 7),
    }));
    for (let from = 0; from < events.length; from += 1_000) {
      const some = events.slice(from, from + 1_000);
      const bodies = some.map((event) => ({ message: messageOf(serviceId, event) }));
      await tenant.post('/v1/ingest/usage/batch', bodies).expect(200);
    }
    await waitUntilRated(tenant, events.length);
    const tried: Card = { free: 500, wide: 20_000, cents: 7 };
    const changes = [
      { kind: 'rateCard', serviceId, currency: 'USD', rows: rowsOf(tried) },
      { kind: 'usage', factor: 2 },
    ];
    const wanted = expected(tried, events, 2);
    const check = async (): Promise<void> => {
      const { repricingId, ...output } = await reprice(tenant, changes);
      expect(output.events).to.equal(events.length);
      expect(output.after[0]?.amount).to.equal(sum(wanted.flat()).toNumber());
      const path = `/v1/repricings/${repricingId}/accounts/acme/charges?explain=false`;
      const { body } = await tenant.get(`${path}&limit=5&offset=4000`).expect(200);
      expect(body.pagination.total).to.equal(wanted[0]?.length);
      expect(body.data.map((one: { after: number }) => one.after)).to.deep.equal(
        wanted[0]?.slice(4_000, 4_005).map((amount) => amount.toNumber()),
      );
    };
    await check();
    while (await tenant.scope.db.transaction((trx) => groupUnlisted(trx, tenant.id)));
    await check();
  }).timeout(120_000);
});
