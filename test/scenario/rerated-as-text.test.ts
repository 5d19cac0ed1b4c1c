import { expect } from 'chai';
import { findCountersOf } from '../../src/models/usage/corrections/metered-counter.js';
import { Pass } from '../../src/queries/usage/corrections/rerating/rerate.js';
import {
  findOwners,
  requestOfRange,
} from '../../src/queries/usage/corrections/rerating/rerate-range.js';
import type { ChangeSink } from '../../src/queries/usage/corrections/rerating/rerate-request.js';
import { external } from '../support/servers/instance.js';
import { meteredService, usage } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';

const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const range = { ...march, accountId: null, contractId: null, serviceId: null };

/** The quick way of rating again (docs/decisions/0440): what it finds to be as it was, and what it leaves. */
describe('events that are rated again as texts', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'A trial.';

  const use = (serviceId: string, id: string, dimensions: object) =>
    usage('acme', serviceId, { externalTransactionId: id, dimensions });
  const namesOf = (ids: readonly string[]): Promise<string[]> =>
    Promise.all(
      ids.map(async (id) => {
        const { body } = await tenant.get(`/v1/usage-events/${id}`).expect(200);
        return body.externalTransactionId as string;
      }),
    );

  /** One pass over March of the one account and service: what was compared as text, and what changed. */
  const pass = async () => {
    const { db, tenantId } = tenant.scope;
    const [owner] = await findOwners(db.read, tenantId, range);
    const request = owner && (await requestOfRange(db.read, tenantId, owner, range));
    if (!owner || !request) throw new Error('There is nothing to rate again.');
    const { targets } = request;
    const ids = targets.map(({ id }) => id);
    const changed: string[] = [];
    const nothing = () => Promise.resolve();
    const sink: ChangeSink = {
      add: ({ event }) => {
        changed.push(event.id);
        return nothing();
      },
      place: nothing,
      discard: nothing,
      keep: nothing,
    };
    const counters = await findCountersOf(db.read, tenantId, owner, ids);
    const rating = new Pass(db.read, tenantId, request, counters, sink);
    const page = await rating.read(targets);
    const quick = page.quick?.flatMap((event, index) => (event ? (ids[index] ?? []) : [])) ?? [];
    await rating.rate(page);
    // Once something was not as it was, all is read whole.
    const isAsItWas = (await rating.read(targets)).quick !== null;
    const { targets: rated, changed: count } = rating.result;
    expect(count).to.equal(changed.length);
    return {
      rated,
      isAsItWas,
      quick: await namesOf(quick),
      changed: await namesOf(changed),
    };
  };
  const rerate = async (): Promise<{ changed: number }> => {
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
    return body.output;
  };
  /** Zero, digits beyond those of a float, and zeros at the end. */
  const volumes = ['10', '0.50', '0', '0.000000123', '123456789012345.25', '1.10'];

  // spec/beyond.md R210
  it('are as they were, whatever their digits: none is read whole', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const names = volumes.map((_volume, index) => `plain-${index}`);
    await story.send(
      ...names.map((name, index) => use(serviceId, name, { api_calls: volumes[index] })),
    );
    expect(await pass()).to.deep.equal({
      rated: names.length,
      isAsItWas: true,
      quick: names,
      changed: [],
    });
  });

  it('are as they were within the tiers of a counter, in the order of the log', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const names = ['m-1', 'm-2', 'm-3'];
    for (const name of names) await story.send(use(serviceId, name, { api_calls: '600.5' }));
    expect(await pass()).to.deep.equal({ rated: 3, isAsItWas: true, quick: names, changed: [] });
  });

  it('differ by one price, and from there on all is read whole', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    // Up to 1,000 calls cost nothing in both cards; the third is partly, the fourth wholly beyond.
    const names = ['m-1', 'm-2', 'm-3', 'm-4'];
    for (const name of names) await story.send(use(serviceId, name, { api_calls: '400' }));
    const [card] = meteredService.rateCards;
    const [row] = card?.rows ?? [];
    const rateCardTiers = row?.rateCardTiers.map((tier) =>
      tier.tierUnitRate === 0.02 ? { ...tier, tierUnitRate: 0.03 } : tier,
    );
    await tenant
      .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, {
        currency: 'USD',
        fromDate: '2026-03-01',
        rows: [{ ...row, rateCardTiers }],
      })
      .expect(201);
    const { isAsItWas, changed } = await pass();
    expect(isAsItWas).to.equal(false);
    expect(changed).to.deep.equal(['m-3', 'm-4']);
    expect((await rerate()).changed).to.equal(2);
    expect((await pass()).changed).to.deep.equal([]);
  });

  it('differ by a contract alone, at the same amount', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Calls');
    await story.send(use(serviceId, 'before', { api_calls: '10' }));
    await story.subscribe(accountId, [serviceId]);
    await story.send(use(serviceId, 'behind', { api_calls: '10' }));
    expect((await pass()).changed).to.deep.equal(['before']);
    expect((await rerate()).changed).to.equal(1);
    expect((await rerate()).changed).to.equal(0);
  });

  it('are left alone where one charge does not say all of them', async () => {
    const accountId = await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls', {
      priceableAttributes: [
        { name: 'api_calls', dimensionDataType: 'Number' },
        { name: 'storage', dimensionDataType: 'Number' },
      ],
      rateCards: [
        {
          currency: 'USD',
          rows: ['api_calls', 'storage'].map((name) => ({
            priceDimName: name,
            label: name,
            priceMethod: 'QUANTITY',
            unitRate: 0.01,
          })),
        },
      ],
    });
    await story.send(use(serviceId, 'one row', { api_calls: '10' }));
    await story.send(use(serviceId, 'two rows', { api_calls: '10', storage: '20' }));
    await story.send(use(serviceId, 'amended', { api_calls: '10' }));
    await tenant
      .post('/v1/usage-events/amended/amend', {
        reason,
        message: use(serviceId, 'amended', { api_calls: '11' }),
      })
      .expect(200);
    expect(await pass()).to.deep.include({ quick: ['one row'], changed: [] });
    await story.subscribe(accountId, [{ serviceId, accountMap: { acme: 1, globex: 1 } }]);
    await story.send(use(serviceId, 'shared', { api_calls: '10' }));
    const { quick, changed } = await pass();
    expect(quick).to.deep.equal(['one row']);
    expect(changed).to.deep.equal(['one row', 'two rows', 'amended']);
    expect((await rerate()).changed).to.equal(3);
    expect(await pass()).to.deep.include({ quick: [], changed: [] });
  });

  it('are left alone where a correction has moved their counter', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    for (const name of ['m-1', 'm-2', 'm-3']) {
      await story.send(use(serviceId, name, { api_calls: '100' }));
    }
    // All of it is below 1,000 and costs nothing: m-2 and m-3 keep their charges, and stand elsewhere.
    await tenant.post('/v1/usage-events/m-1/cancel', { reason }).expect(200);
    expect(await pass()).to.deep.include({ rated: 2, quick: [], changed: [] });
    expect((await rerate()).changed).to.equal(0);
  });
});
