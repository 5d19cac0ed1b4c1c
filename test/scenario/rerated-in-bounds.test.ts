import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import pg from 'pg';
import { findCountersOf } from '../../src/models/usage/corrections/metered-counter.js';
import { readLogMark } from '../../src/queries/usage/corrections/log-mark.js';
import { findMembers } from '../../src/queries/usage/corrections/meter-members.js';
import {
  findOwners,
  requestOfRange,
} from '../../src/queries/usage/corrections/rerating/rerate-range.js';
import type {
  ChangeSink,
  RatedAgain,
} from '../../src/queries/usage/corrections/rerating/rerate-request.js';
import { Rerating } from '../../src/queries/usage/corrections/rerating/rerating.js';
import { meteredService, tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const range = { ...march, accountId: null, contractId: null, serviceId: null };
const nowhere: ChangeSink = {
  add: () => Promise.resolve(),
  place: () => Promise.resolve(),
  discard: () => Promise.resolve(),
  keep: () => Promise.resolve(),
};

/** What rating again holds in memory, and the most that it takes on. */
describe('usage that is rated again', function () {
  this.timeout(180_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;

  /** Usage of one account and service, whose owner it gives. */
  const send = async (events: number) => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const messages = Array.from({ length: events }, (_each, index) => ({
      message: usage('acme', serviceId, {
        externalTransactionId: `e-${index}`,
        dimensions: { api_calls: '3' },
      }),
    }));
    for (let from = 0; from < events; from += 1_000) {
      const batch = messages.slice(from, from + 1_000);
      await tenant.post('/v1/ingest/usage/batch', batch).expect(200);
    }
    await story.rated();
    const { db, tenantId } = tenant.scope;
    const [owner] = await findOwners(db.read, tenantId, range);
    if (!owner) throw new Error('Nobody has usage.');
    return owner;
  };
  const bytesHeld = async (): Promise<number> => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // What timers and promises of this turn hold is free in one of the next.
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    return process.memoryUsage().heapUsed;
  };

  // docs/decisions/0440
  it('keeps none of its events in memory, while the usage of others is', async () => {
    const events = 2_000;
    const owner = await send(events);
    const { db, tenantId } = tenant.scope;
    const mark = await readLogMark(db.read, tenantId);
    const rerate = async (isDry: boolean): Promise<Rerating> => {
      const request = await requestOfRange(db.read, tenantId, owner, range);
      if (!request) throw new Error('There is nothing to rate again.');
      const rerating = new Rerating(db.read, tenantId, request, nowhere);
      await rerating.open(isDry ? null : mark);
      await rerating.run(isDry ? null : mark);
      return rerating;
    };
    const owners = 20;
    const done = [await rerate(true)];
    const before = await bytesHeld();
    while (done.length <= owners) done.push(await rerate(done.length % 2 === 0));
    const held = (await bytesHeld()) - before;
    expect(done.map(({ result }) => result.targets)).to.deep.equal(done.map(() => events));
    // The place of an event is 77 characters in what the database answers.
    expect(held / (owners * events)).to.be.lessThan(30);
  });

  // docs/decisions/0482
  it('is written without what it was sent with, which is not held until then', async () => {
    const events = 30;
    // Of all of them 21 MB.
    const note = 'x'.repeat(700_000);
    await story.account('acme');
    const inputAttributes = [{ name: 'note', dimensionDataType: 'String' }];
    const serviceId = await story.service('Metered', { ...meteredService, inputAttributes });
    await story.send(
      ...Array.from({ length: events }, (_each, index) =>
        usage('acme', serviceId, {
          externalTransactionId: `e-${index}`,
          dimensions: { api_calls: '100', note },
        }),
      ),
    );
    const rows = [{ priceDimName: 'api_calls', label: 'All', ...tiers([0, null, 0.03]) }];
    const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    await tenant.post(path, { currency: 'USD', rows, fromDate: '2026-02-01' }).expect(201);
    const { db, tenantId } = tenant.scope;
    const changes: RatedAgain[] = [];
    const add = (change: RatedAgain) => {
      changes.push(change);
      return Promise.resolve();
    };
    const rerate = async (): Promise<void> => {
      const [owner] = await findOwners(db.read, tenantId, range);
      const request = owner && (await requestOfRange(db.read, tenantId, owner, range));
      if (!request) throw new Error('There is nothing to rate again.');
      const rerating = new Rerating(db.read, tenantId, request, { ...nowhere, add });
      await rerating.open(null);
      await rerating.run(null);
    };
    const before = await bytesHeld();
    await rerate();
    const held = (await bytesHeld()) - before;
    expect(changes).to.have.length(events);
    expect(held).to.be.lessThan(8_000_000);
  });

  // docs/decisions/0372
  it('is refused where an account has more of it than is held in memory, before it is read', async () => {
    const owner = await send(2);
    const { db, tenantId } = tenant.scope;
    const request = await requestOfRange(db.read, tenantId, owner, range);
    const [id = ''] = (request?.targets ?? []).map((target) => target.id);
    const counters = await findCountersOf(db.read, tenantId, owner, [id]);
    const fill = new pg.Client({ connectionString: story.instance.databaseUrl });
    await fill.connect();
    await fill.query(
      `insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
       values ($1, 'account', $2, $3, $3, 1, array_fill($3::uuid, array[2000000]))`,
      [tenantId, owner.accountId, id],
    );
    await fill.end();
    const whyOf = (asked: Promise<unknown>): Promise<unknown> =>
      asked.then(
        () => 'taken',
        (error: unknown) => error,
      );
    const tooMuch = {
      status: 409,
      message:
        'The account has more than 2000000 events in this time, or in the periods of the counters: so many cannot be rated again at once.',
    };
    expect(await whyOf(requestOfRange(db.read, tenantId, owner, range))).to.deep.include(tooMuch);
    const members = findMembers(db.read, tenantId, { owner, targets: [] }, [...counters.values()]);
    expect(await whyOf(members)).to.deep.include(tooMuch);
  });
});
