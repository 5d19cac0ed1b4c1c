import { expect } from 'chai';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { pageBytesMax, readMessagesAt } from '../../src/models/usage/event-message.js';
import { findCountersOf } from '../../src/models/usage/corrections/metered-counter.js';
import { Pass } from '../../src/queries/usage/corrections/rerating/rerating-pass.js';
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
    const quick =
      page.quick?.events.flatMap((event, index) => (event ? (ids[index] ?? []) : [])) ?? [];
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
  /** In one request, so that messages share the rows of the log. */
  const sendTogether = async (messages: readonly object[]): Promise<void> => {
    const body = messages.map((message) => ({ message }));
    await tenant.post('/v1/ingest/usage/batch', body).expect(200);
    await story.rated();
  };
  /** The partition and the number of messages of each row of the log, in its order. */
  const places = () =>
    sqlRows<{ partition: number; messages: number }>(
      tenant.scope.db.read,
      `select partition, (end_offset - first_offset)::integer as messages from usage_message
       where tenant_id = ? order by partition, first_offset`,
      [tenant.scope.tenantId],
    );
  const rowsOfLog = async () => (await places()).map(({ messages }) => messages);
  const nameOf = (text: string | null | undefined): string | null =>
    typeof text === 'string' ? JSON.parse(text).externalTransactionId : null;
  /** The events at offsets of the partition of the story, by their names. */
  const textsAt = async (offsets: readonly number[], partition?: number) => {
    const { db, tenantId } = tenant.scope;
    const of = partition ?? (await places())[0]?.partition ?? -1;
    const asked = offsets.map((offset) => ({ partition: of, offset }));
    return (await readMessagesAt(db.read, tenantId, asked, pageBytesMax)).map(nameOf);
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

  it('are read whole where a text of theirs holds what charges are separated by', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Calls');
    const serviceInstanceId = 'a\u001eb';
    await story.subscribe(accountId, [{ serviceId, serviceInstanceId }]);
    await story.send(
      { ...use(serviceId, 'named', { api_calls: '10' }), serviceInstanceId },
      use(serviceId, 'unnamed', { api_calls: '20' }),
    );
    expect(await pass()).to.deep.include({ rated: 2, quick: [], changed: [] });
    expect((await rerate()).changed).to.equal(0);
  });

  it('are read from the log beside a message that is alone in its row, because it is long', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls', {
      priceableAttributes: [{ name: 'api_calls', dimensionDataType: 'Number' }],
      inputAttributes: [{ name: 'note', dimensionDataType: 'String' }],
    });
    const long = 'x'.repeat(5_000);
    const notes = ['a', 'b', long, 'c', `${long}y`, long];
    const names = notes.map((_note, index) => `noted-${index}`);
    await sendTogether(
      names.map((name, index) => use(serviceId, name, { api_calls: '10', note: notes[index] })),
    );
    expect(await rowsOfLog()).to.deep.equal([2, 1, 1, 1, 1]);
    expect(await pass()).to.deep.equal({ rated: 6, isAsItWas: true, quick: names, changed: [] });
    expect(await textsAt([1])).to.deep.equal(['noted-1']);
    expect(await textsAt([0, 1, 3])).to.deep.equal(['noted-0', 'noted-1', 'noted-3']);
    expect(await textsAt([4])).to.deep.equal(['noted-4']);
    expect(await textsAt([5, 0, 6])).to.deep.equal(['noted-5', 'noted-0', null]);
  });

  it('are read from the log one by one where they are far apart', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    // More than eight messages for each of the two that are asked for.
    const names = Array.from({ length: 20 }, (_each, index) => `far-${index}`);
    await sendTogether(names.map((name) => use(serviceId, name, { api_calls: '10' })));
    expect(await rowsOfLog()).to.deep.equal([20]);
    const [{ partition } = { partition: -1 }] = await places();
    expect(await textsAt([19, 0])).to.deep.equal(['far-19', 'far-0']);
    expect(await textsAt([19, 0, 40])).to.deep.equal(['far-19', 'far-0', null]);
    expect(await textsAt([0], partition + 1)).to.deep.equal([null]);
    const { db, tenantId } = tenant.scope;
    const elsewhere = [
      { partition: partition + 1, offset: 0 },
      { partition, offset: 7 },
    ];
    const [none, text] = await readMessagesAt(db.read, tenantId, elsewhere, pageBytesMax);
    expect([none, nameOf(text)]).to.deep.equal([null, 'far-7']);
    // Beyond the end of the log by more than an integer of PostgreSQL says.
    expect(await textsAt([3_000_000_000, 3])).to.deep.equal([null, 'far-3']);
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
