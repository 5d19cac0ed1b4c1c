import { expect } from 'chai';
import type { Knex } from 'knex';
import { recordCorrectedEvents } from '../../src/commands/usage/corrections/correction-webhook-event.js';
import { parseRecords, rateUsage } from '../../src/commands/usage/rate-usage.js';
import { retryUsagePage } from '../../src/commands/usage/retry-usage.js';
import { newId } from '../../src/kernel/id.js';
import { placeOfUsageEvent } from '../../src/messages/usage-log.js';
import { countFitting, readMessagesAt } from '../../src/models/usage/event-message.js';
import { UsageDay } from '../../src/models/usage/usage-day.js';
import { UsageEvent } from '../../src/models/usage/usage-event.js';
import { auditCharges } from '../../src/queries/usage/audit/usage-audit.js';
import { listCorrectedCharges } from '../../src/queries/usage/corrections/corrected-charge.js';
import {
  findOwners,
  requestOfRange,
} from '../../src/queries/usage/corrections/rerating/rerate-range.js';
import type {
  ChangeSink,
  RerateRequest,
} from '../../src/queries/usage/corrections/rerating/rerate-request.js';
import { Rerating } from '../../src/queries/usage/corrections/rerating/rerating.js';
import { listRepricedCharges } from '../../src/queries/usage/repricing/repriced-charge.js';
import { Repricer } from '../../src/queries/usage/repricing/repricer.js';
import {
  readPortion,
  type PortionPlace,
} from '../../src/queries/usage/repricing/reprice-accounts.js';
import type { PageRequest } from '../../src/schemas/http/paging.js';
import { meteredService, tiers, usage, type Message } from '../support/billing/usage.js';
import { weigh } from '../support/billing/weigh-answers.js';
import { external } from '../support/servers/instance.js';
import { openReceiver } from '../support/servers/receiver.js';
import { useStory } from '../support/story/story.js';

const march = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const range = { ...march, accountId: null, contractId: null, serviceId: null };
const events = 30;
/** Of all of them 21 MB. */
const note = 'x'.repeat(700_000);

/** Messages of nearly a mebibyte each: what is rated again is read by weight, not only by number. */
describe('usage with long messages', function () {
  this.timeout(120_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'A trial.';

  const messagesOf = (serviceId: string): Message[] =>
    Array.from({ length: events }, (_each, index) =>
      usage('acme', serviceId, { externalTransactionId: `long-${index}`, note }),
    );
  /** 30 events of 100 calls, of one account; 3,000 calls cost 40.00. */
  const send = async (): Promise<string> => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...messagesOf(serviceId));
    return serviceId;
  };
  /** 0.03 from the first call on: each of them costs 3.00. */
  const changePrice = async (serviceId: string): Promise<void> => {
    const rows = [{ priceDimName: 'api_calls', label: 'All', ...tiers([0, null, 0.03]) }];
    const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    const card = { currency: 'USD', rows, fromDate: '2026-02-01' };
    await tenant.post(path, card).expect(201);
  };
  const correctPrice = async (serviceId: string): Promise<{ readonly correctionId: string }> => {
    await changePrice(serviceId);
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.output).to.include({ events, changed: events });
    return body.output;
  };
  /** Connections of the tenant, and the characters of the longest answer that they have given. */
  const weighed = () => {
    const db = tenant.scope.db.read;
    return { db, most: weigh(db) };
  };
  /** Rates March of the account again, or what is made of that; how many events came out otherwise. */
  const rerate = async (asked: (request: RerateRequest) => RerateRequest = (of) => of) => {
    const { db, most } = weighed();
    const { tenantId } = tenant.scope;
    const [owner] = await findOwners(db, tenantId, range);
    const request = owner && (await requestOfRange(db, tenantId, owner, range));
    if (!request) throw new Error('There is nothing to rate again.');
    const changed: string[] = [];
    let places = 0;
    const nothing = () => Promise.resolve();
    const sink: ChangeSink = {
      add: ({ event }) => {
        changed.push(event.id);
        return nothing();
      },
      place: (of) => {
        places += of.length;
        return nothing();
      },
      discard: () => {
        changed.length = 0;
        places = 0;
        return nothing();
      },
      keep: nothing,
    };
    const rerating = new Rerating(db, tenantId, asked(request), sink);
    await rerating.open(null);
    await rerating.run(null);
    expect(changed).to.deep.equal([...changed].sort());
    const { targets } = rerating.result;
    return { targets, changed: changed.length, places, longest: most.length };
  };
  /** One message more may be on a page than is weighed. */
  const longestMax = 8 * 1024 * 1024 + note.length + 100_000;

  // spec/beyond.md R153
  it('is rated again in pages by weight, whether it comes to the same or not', async () => {
    const serviceId = await send();
    const same = await rerate();
    expect(same).to.deep.include({ targets: events, changed: 0, places: 0 });
    expect(same.longest).to.be.within(note.length, longestMax);
    await changePrice(serviceId);
    const other = await rerate();
    expect(other).to.deep.include({ targets: events, changed: events, places: 0 });
    expect(other.longest).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('is followed in pages by weight where an event before it is canceled', async () => {
    await send();
    const canceled = await rerate(
      ({ targets: [first], openPrepare: _openPrepare, ...request }) => ({
        ...request,
        targets: first ? [first] : [],
        isForced: true,
        fatesOf: (of) => Promise.resolve(new Map(of.map(({ id }) => [id, { kind: 'removed' }]))),
      }),
    );
    // The eleventh is now below 1,000 and costs nothing; the 28 others stand elsewhere.
    expect(canceled).to.deep.include({ targets: 1, changed: 2, places: 28 });
    expect(canceled.longest).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('is tried with other prices in portions by weight, whose counters go on', async () => {
    await send();
    await story.account('globex');
    const { db, most } = weighed();
    const { tenantId } = tenant.scope;
    const days = { from: '2026-03-01', last: '2026-03-31' };
    const ids = await UsageDay.idRange(db, tenantId, ['rated'], days);
    if (!ids) throw new Error('There is no usage.');
    const twice = { kind: 'usage', factor: '2', serviceId: null, attribute: null } as const;
    const repricer = new Repricer(db, tenantId, [twice]);
    const usageOf = {
      repricingId: '',
      range: { ...march, ...ids, serviceIds: null },
      accountIds: null,
      hasTriedPeriods: false,
    };
    const counts: number[] = [];
    for (let place: PortionPlace = { accountId: null, eventId: null }; ;) {
      const { chosen, recorded } = await readPortion(db, tenantId, usageOf, place, repricer);
      if (chosen.isDone) break;
      counts.push(recorded.length);
      place = chosen;
    }
    // 8,388,608 bytes hold eleven of 700,000 and the begin of a twelfth.
    expect(counts.filter((count) => count > 0)).to.deep.equal([12, 12, 6]);
    expect(most.length).to.be.within(note.length, longestMax);
    const data = { name: 'Twice', from: '2026-03-01', to: '2026-04-01' };
    const changes = [{ kind: 'usage', factor: 2 }];
    const { body } = await tenant
      .post('/v1/workflows/reprice/execute', { data: { ...data, changes } })
      .expect(200);
    // 6,000 calls: 5,000 at 0.02.
    expect(body.output).to.deep.include({
      events,
      before: [{ currency: 'USD', amount: 40 }],
      after: [{ currency: 'USD', amount: 100 }],
      rejected: [],
    });
  });

  // spec/beyond.md R153
  it('is audited by weight', async () => {
    await send();
    const { most } = weighed();
    const input = { periodStart: '2026-03-01', periodEnd: '2026-03-31', samplePercent: 100 };
    const page = await auditCharges(tenant.scope, { input, after: null, limit: 1_000 });
    expect(page).to.deep.equal({
      next: null,
      events,
      unchecked: 0,
      charges: events,
      differences: [],
    });
    expect(most.length).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('is explained by weight: a page ends early, and the next goes on behind it', async () => {
    const serviceId = await send();
    const data = { name: 'Twice', from: '2026-03-01', to: '2026-04-01' };
    const changes = [{ kind: 'usage', factor: 2 }];
    const path = '/v1/workflows/reprice/execute';
    const { body: tried } = await tenant.post(path, { data: { ...data, changes } }).expect(200);
    const corrected = await correctPrice(serviceId);
    const { body: account } = await tenant.get(`${external}/accounts/by-external-id/acme`);
    const { most } = weighed();
    const repriced = { repricingId: tried.output.repricingId, accountId: account.data.Id };
    for (const list of [
      (page: PageRequest) => {
        const asked = { correctionId: corrected.correctionId, isExplained: true };
        return listCorrectedCharges(tenant.scope, undefined, asked, page);
      },
      (page: PageRequest) =>
        listRepricedCharges(tenant.scope, repriced, { explain: true, ...page }),
    ]) {
      const pages: (readonly [number, boolean | undefined])[] = [];
      for (let offset = 0; offset < events;) {
        const { items, total, isCut } = await list({ limit: events, offset });
        expect(total).to.equal(events);
        for (const { beforeExplanation, afterExplanation } of items) {
          expect(beforeExplanation).to.be.an('object');
          expect(afterExplanation).to.be.an('object');
        }
        pages.push([items.length, isCut]);
        offset += items.length;
      }
      expect(pages).to.deep.equal([
        [12, true],
        [12, true],
        [6, false],
      ]);
    }
    expect(most.length).to.be.within(note.length, longestMax);
    most.length = 0;
    const all = { explain: false, limit: events, offset: 0 };
    const short = await listRepricedCharges(tenant.scope, repriced, all);
    expect([short.items.length, short.isCut]).to.deep.equal([events, false]);
    // What is not explained needs no message.
    expect(most.length).to.be.below(note.length);
  });

  // spec/beyond.md R153
  it('is told to webhooks by weight, each event once', async () => {
    const receiver = await openReceiver();
    try {
      const serviceId = await send();
      const webhook = { events: ['usage.corrected'], secret: 'a-secret-of-24-characters' };
      await tenant.post('/v1/webhooks', { url: receiver.url, ...webhook }).expect(201);
      const { correctionId } = await correctPrice(serviceId);
      const received = await receiver.until((arrived) => arrived.length === events);
      const told = received.map(({ payload: { data } }) => data as Record<string, string>);
      expect(new Set(told.map(({ externalTransactionId }) => externalTransactionId)).size).to.equal(
        events,
      );
      const corrected = told.map(({ eventId }) => eventId ?? '');
      const correction = { correctionId, reason, canceled: [], corrected };
      const most = { length: 0 };
      await tenant.scope.db.transaction(async (trx) => {
        weigh(trx, most);
        await recordCorrectedEvents(trx, tenant.scope, correction);
      });
      expect(most.length).to.be.within(note.length, longestMax);
    } finally {
      await receiver.close();
    }
  });

  // spec/beyond.md R153
  it('that was rejected is retried in pages by weight', async () => {
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...messagesOf(serviceId));
    const counts: number[] = [];
    const [until, runId] = ['2027-01-01T00:00:00Z', newId()];
    for (let afterId: string | null = null; ;) {
      const page = { tenantId: tenant.id, actor: 'test', filter: {}, until, afterId };
      const onFault = (error: unknown) => expect.fail(String(error));
      const done = await retryUsagePage(tenant.scope, { page, workflowId: 'w', runId, onFault });
      counts.push(done.counts.rejected);
      if (done.lastId === null) break;
      afterId = done.lastId;
    }
    // The counts are those of the run so far.
    expect(counts).to.deep.equal([12, 24, 30]);
  });

  /** The events of the tenant, in the order of the log. */
  const idsOfAll = async (): Promise<string[]> => {
    const { tenantId, db } = tenant.scope;
    const found = await UsageEvent.query(db.read).forTenant(tenantId).select('id').orderBy('id');
    return found.map(({ id }) => id);
  };

  // spec/beyond.md R153
  it('is compared by weight with what repeats it', async () => {
    const serviceId = await send();
    const repeats = messagesOf(serviceId).map(({ note: _note, ...message }) => message);
    const equal = usage('acme', serviceId, { externalTransactionId: 'long-0', note });
    const records = await parseRecords(
      [...repeats, equal].map((message, index) => ({
        offset: index,
        key: null,
        orgId: null,
        message: JSON.stringify(message),
        receivedAt: new Date(),
      })),
    );
    const most = { length: 0 };
    let transactions = 0;
    const { tenantId, db } = tenant.scope;
    const transaction = <T>(work: (trx: Knex.Transaction) => Promise<T>) =>
      db.transaction((trx) => {
        weigh(trx, most);
        transactions += 1;
        return work(trx);
      });
    const scope = { ...tenant.scope, db: { tenantId, read: db.read, transaction } };
    const { counts } = await rateUsage(scope, {
      partition: 1,
      from: 0,
      end: records.length,
      records,
      areKept: false,
      workflowId: 'test',
      runId: newId(),
      onFault: (error) => expect.fail(String(error)),
    });
    expect(counts).to.deep.equal({ rated: 0, duplicate: 1, rejected: events });
    // Twelve, twelve, and six with the one that is equal.
    expect(transactions).to.equal(3);
    expect(most.length).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('that is gone weighs nothing, whatever stands before it', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const short = Array.from({ length: 20 }, (_each, index) =>
      usage('acme', serviceId, { externalTransactionId: `short-${index}` }),
    );
    const long = usage('acme', serviceId, { externalTransactionId: 'long', note });
    // At once: the long one has a row of the log, the others have the next one.
    const batch = [long, ...short].map((message) => ({ message }));
    await tenant.post('/v1/ingest/usage/batch', batch).expect(200);
    await story.rated();
    const { db, tenantId } = tenant.scope;
    await db.transaction((trx) =>
      trx.raw('delete from usage_message where tenant_id = ? and end_offset > first_offset + 1', [
        tenantId,
      ]),
    );
    const ids = await idsOfAll();
    expect(await countFitting(db.read, tenantId, ids, note.length + 1_000)).to.equal(21);
    const places = ids.slice(1).map((id) => placeOfUsageEvent(id));
    const gone = places.flatMap((place) => (place ? [place] : []));
    const texts = await readMessagesAt(db.read, tenantId, gone, note.length);
    expect(texts).to.deep.equal(gone.map(() => null));
    expect(texts).to.have.length(20);
  });

  // spec/beyond.md R153
  it('is weighed by what it was amended to', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const names = Array.from({ length: 14 }, (_each, index) => `short-${index}`);
    const message = (externalTransactionId: string, more: object = {}) =>
      usage('acme', serviceId, { externalTransactionId, ...more });
    await story.send(...names.map((name) => message(name)));
    for (const name of names) {
      const body = { message: message(name, { note }), reason };
      await tenant.post(`/v1/usage-events/${name}/amend`, body).expect(200);
    }
    const again = await rerate();
    expect(again).to.deep.include({ targets: 14, changed: 0, places: 0 });
    expect(again.longest).to.be.within(note.length, longestMax);
  });
});
