import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  rate,
  send,
  summary,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('usage events that are sent again', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let serviceId: string;
  beforeEach(async () => {
    await createAccount(tenant, 'acme');
    await createAccount(tenant, 'other');
    serviceId = await createService(tenant, 'Calls');
  });

  const charges = async (): Promise<number> => {
    const { body } = await tenant.get(`${external}/rated-transactions`).expect(200);
    return body.data.totalElements as number;
  };

  // spec/rating.md R55
  it('50 times at once are rated once', async () => {
    const message = usage('acme', serviceId);
    await Promise.all(
      Array.from({ length: 50 }, () => tenant.post('/v1/ingest/usage', { message }).expect(200)),
    );
    expect(await waitUntilRated(tenant, 50)).to.deep.equal({
      accepted: 50,
      rated: 1,
      duplicate: 49,
      rejected: 0,
      pending: 0,
    });
    expect(await charges()).to.equal(1);
    const { body } = await tenant.get('/v1/usage-events?status=duplicate').expect(200);
    const original = await event(tenant, String(message.externalTransactionId));
    expect(original.status).to.equal('rated');
    const originals = (body.data as { originalId: string }[]).map(({ originalId }) => originalId);
    expect(originals).to.deep.equal(new Array(49).fill(original.id));
  });

  // spec/rating.md R56
  it('are the same whatever the order of keys and the spelling of numbers', async () => {
    const message = usage('acme', serviceId, { quantity: 1, extra: { a: [1, 2], b: null } });
    await rate(tenant, message);
    const { externalTransactionId: id, dimensions } = message;
    const text =
      `{"message": {"extra": {"b": null, "a": [1.0, 20e-1]}, "quantity": 1.00, "dimensions": ` +
      `${JSON.stringify(dimensions)}, "billingAccountRef": "acme", "eventTimestamp": ` +
      `"2026-03-15T12:00:00Z", "serviceId": "${serviceId}", "externalTransactionId": "${String(id)}"}, "key": 1}`;
    await tenant.post('/v1/ingest/usage', text).expect(200);
    expect(await waitUntilRated(tenant, 2)).to.include({ rated: 1, duplicate: 1, rejected: 0 });
  });

  // spec/rating.md R56, R58
  it('with another content contradict the first, and are kept as rejected', async () => {
    const message = usage('acme', serviceId);
    const first = await rate(tenant, message);
    await send(tenant, { ...message, dimensions: { api_calls: '101' } });
    expect(await waitUntilRated(tenant, 2)).to.include({ rated: 1, duplicate: 0, rejected: 1 });
    const { body } = await tenant.get('/v1/usage-events?code=DUPLICATE_CONFLICT').expect(200);
    expect(body.data).to.have.length(1);
    const [conflict] = body.data;
    expect(conflict).to.include({ status: 'rejected', originalId: first.id });
    // The external id names the original, our id the one that contradicts it.
    expect(await event(tenant, first.externalTransactionId as string)).to.deep.equal(first);
    expect((await event(tenant, conflict.id as string)).message.dimensions.api_calls).to.equal(
      '101',
    );
    const retried = await tenant
      .post(`/v1/usage-events/${conflict.id as string}/retry`)
      .expect(200);
    expect(retried.body).to.include({ status: 'rejected', code: 'DUPLICATE_CONFLICT' });
    expect(await charges()).to.equal(1);
  });

  // spec/beyond.md R607
  it('are found by their account, and so is what contradicts another one', async () => {
    const message = usage('acme', serviceId);
    await rate(tenant, message);
    const changed = { ...message, dimensions: { api_calls: '101' } };
    await send(tenant, message, changed, { ...changed, billingAccountRef: 'other' });
    // In one batch with the first, too.
    const again = usage('acme', serviceId);
    await send(tenant, again, again);
    await waitUntilRated(tenant, 6);
    const of = async (accountId: string, more = '') => {
      const { body } = await tenant.get(`/v1/usage-events?accountId=${accountId}${more}`);
      return (body.data as { status: string; code: string | null }[])
        .map(({ status, code }) => code ?? status)
        .sort();
    };
    const ofAcme = ['DUPLICATE_CONFLICT', 'duplicate', 'duplicate', 'rated', 'rated'];
    expect(await of('acme')).to.deep.equal(ofAcme);
    expect(await of('acme', '&status=rejected')).to.deep.equal(['DUPLICATE_CONFLICT']);
    expect(await of('acme', '&status=duplicate')).to.have.length(2);
    // By the account that it names, not that of the one before.
    expect(await of('other')).to.deep.equal(['DUPLICATE_CONFLICT']);
    const { body } = await tenant.get('/v1/usage-events/rejections?accountId=acme').expect(200);
    expect(body.counted).to.equal(1);
  });

  // spec/beyond.md R607
  it('are found by their account though they are no events, also once they are tried again', async () => {
    const { externalTransactionId: id } = usage('acme', serviceId);
    const message = { externalTransactionId: id, billingAccountRef: 'acme', serviceId: 'none' };
    await send(tenant, message, { ...message, externalTransactionId: 'b', billingAccountRef: 'x' });
    await waitUntilRated(tenant, 2);
    const path = '/v1/usage-events?accountId=acme';
    const [found] = (await tenant.get(path).expect(200)).body.data;
    expect(found).to.include({ externalTransactionId: id, code: 'INVALID_EVENT' });
    await tenant.post(`/v1/usage-events/${found.id as string}/retry`).expect(200);
    expect((await tenant.get(path).expect(200)).body.pagination.total).to.equal(1);
  });

  // spec/rating.md R57
  it('repair what was rejected', async () => {
    const bad = usage('acme', serviceId, { dimensions: { api_calls: 'x' } });
    const rejected = await rate(tenant, bad);
    expect(rejected).to.include({ status: 'rejected', code: 'INVALID_DIMENSION' });
    const repaired = await rate(tenant, { ...bad, dimensions: { api_calls: '7' } });
    expect(repaired).to.include({ id: rejected.id, status: 'rated', offset: rejected.offset + 1 });
    expect(repaired.ratedTransactions[0]).to.include({ amount: 0.07, matches: true });
    expect(await summary(tenant)).to.deep.equal({
      accepted: 2,
      rated: 1,
      duplicate: 1,
      rejected: 0,
      pending: 0,
    });
    const { body } = await tenant.get('/v1/usage-events?status=duplicate').expect(200);
    expect(body.data[0]).to.include({
      originalId: rejected.id,
      offset: rejected.offset,
      code: null,
    });
    const old = await event(tenant, body.data[0].id as string);
    expect(old.message.dimensions.api_calls).to.equal('x');
  });

  // spec/rating.md R57
  it('repair it also from another partition, in one batch, or not at all', async () => {
    const id = 'wanderer';
    await rate(tenant, usage('nobody', serviceId, { externalTransactionId: id }));
    await rate(tenant, usage('acme', serviceId, { externalTransactionId: id, dimensions: {} }));
    const still = await event(tenant, id);
    expect(still).to.include({ status: 'rejected', code: 'INVALID_EVENT' });
    expect(await summary(tenant)).to.include({ rated: 0, duplicate: 1, rejected: 1 });
    const tries = [
      { dimensions: { x: '1' } },
      { dimensions: { api_calls: '5' } },
      { dimensions: { api_calls: '6' } },
    ];
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        tries.map((more) => ({
          message: usage('other', serviceId, { externalTransactionId: id, ...more }),
        })),
      )
      .expect(200);
    await waitUntilRated(tenant, 5);
    const shown = await event(tenant, id);
    expect(shown).to.include({ id: still.id, status: 'rated' });
    expect(shown.ratedTransactions[0].amount).to.equal(0.05);
    // The three before the one that was rated are duplicates of it; the last contradicts it.
    expect(await summary(tenant)).to.deep.equal({
      accepted: 5,
      rated: 1,
      duplicate: 3,
      rejected: 1,
      pending: 0,
    });
    const { body } = await tenant.get('/v1/usage-events/summary').expect(200);
    for (const each of body.partitions) {
      const { accepted, rated, duplicate, rejected, pending } = each;
      expect(rated + duplicate + rejected + pending, JSON.stringify(each)).to.equal(accepted);
      expect(rejected).to.be.at.least(0);
      // What became of the messages of a partition is found by their places, which repairs have changed.
      const { partition } = each as { partition: number };
      const ranges = Array.from({ length: accepted as number }, (_one, from) => ({
        partition,
        from,
        to: from + 1,
      }));
      for (const asked of [ranges, [{ partition, from: 0, to: accepted as number }]]) {
        const outcomes = await tenant.post('/v1/usage-events/outcomes', { ranges: asked });
        expect(outcomes.body).to.include({ accepted, rated, duplicate, rejected, pending });
      }
    }
    expect(await charges()).to.equal(1);
  });

  it('under two accounts at once are rated once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const externalTransactionId = `race-${round}`;
      const messages = ['acme', 'other', 'acme', 'other'].map((account) =>
        usage(account, serviceId, { externalTransactionId }),
      );
      await Promise.all(messages.map((message) => send(tenant, message)));
    }
    const end = await waitUntilRated(tenant, 40);
    // Per round one is rated, its equal is a duplicate, and the two of the other account contradict it.
    expect(end).to.deep.equal({ accepted: 40, rated: 10, duplicate: 10, rejected: 20, pending: 0 });
    expect(await charges()).to.equal(10);
  });

  it('in one batch follow the same rules', async () => {
    const good = usage('acme', serviceId);
    const bad = usage('acme', serviceId, { dimensions: { x: '1' } });
    const messages = [
      good,
      bad,
      good,
      { ...good, quantity: 2 },
      bad,
      { ...bad, dimensions: { api_calls: '1' } },
      bad,
    ];
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        messages.map((message) => ({ message })),
      )
      .expect(200);
    // Rated: good, and bad when it was mended. Duplicates: good again, bad twice before it was mended.
    // Rejected: good with another quantity, and bad after it was mended.
    expect(await waitUntilRated(tenant, 7)).to.deep.equal({
      accepted: 7,
      rated: 2,
      duplicate: 3,
      rejected: 2,
      pending: 0,
    });
  });
});
