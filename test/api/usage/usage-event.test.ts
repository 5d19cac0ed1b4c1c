import { expect } from 'chai';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  meteredService,
  rate,
  send,
  summary,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';

const flat = (unitRate: number) => ({
  currency: 'USD',
  rows: [{ priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate }],
});

describe('usage events', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
    await createAccount(tenant, 'acme', { number: 'A-1' });
  });
  after(() => instance.close());

  it('are rated and explain their charge', async () => {
    const serviceId = await createService(tenant, 'Messaging', meteredService);
    await rate(tenant, usage('acme', serviceId, { dimensions: { api_calls: '900' } }));
    const shown = await rate(
      tenant,
      usage('acme', serviceId, { dimensions: { api_calls: '9200' } }),
    );
    expect(shown).to.include({ status: 'rated', code: null, reason: null, morgId: 'org' });
    expect(shown.topic).to.equal(`usage.${tenant.id}`);
    expect(shown.workflowId).to.equal(`${tenant.id}/usage/${shown.partition}/${shown.offset}`);
    expect(shown.eventTimestamp).to.equal('2026-03-15T12:00:00.000Z');
    expect(shown.message.dimensions).to.deep.equal({ api_calls: '9200' });
    const [charge] = shown.ratedTransactions;
    // 100 free, 9,000 at 0.02 = 180, 100 at 0.01 = 1 (spec/rating.md R64, R65).
    expect(charge).to.include({ amount: 181, currency: 'USD', quantity: 9200, matches: true });
    expect(charge).to.include({ accountNumber: 'A-1', transactionDate: '2026-03-15' });
    const [row] = charge.explanation.rows;
    expect(row.counter).to.include({ before: '900', after: '10100', periodStart: '2026-03-01' });
    expect(
      row.tiers.map(({ volume, amount }: Record<string, string>) => [volume, amount]),
    ).to.deep.equal([
      ['100', '0'],
      ['9000', '180'],
      ['100', '1'],
    ]);
    const byId = await event(tenant, shown.id as string);
    expect(byId).to.deep.equal(shown);
  });

  it('count a late event in its own period', async () => {
    const serviceId = await createService(tenant, 'Late', meteredService);
    const of = (day: string, calls: string) =>
      usage('acme', serviceId, {
        eventTimestamp: `${day}T00:00:00Z`,
        dimensions: { api_calls: calls },
      });
    await rate(tenant, of('2026-02-10', '1000'));
    const march = await rate(tenant, of('2026-03-01', '1000'));
    const late = await rate(tenant, of('2026-02-28', '50'));
    expect(march.ratedTransactions[0].amount).to.equal(0);
    // The free 1,000 of February are used up: 50 at 0.02 (spec/rating.md R37).
    expect(late.ratedTransactions[0].amount).to.equal(1);
  });

  it('are metered across batches as if they were one', async () => {
    const serviceId = await createService(tenant, 'Batches', meteredService);
    await Promise.all(
      Array.from({ length: 40 }, () =>
        send(tenant, usage('acme', serviceId, { dimensions: { api_calls: '300' } })),
      ),
    );
    await waitUntilRated(tenant);
    const { body } = await tenant
      .get(`/v1/usage-events?serviceId=${serviceId}&limit=100`)
      .expect(200);
    const events = await Promise.all(body.data.map(({ id }: { id: string }) => event(tenant, id)));
    const total = events.reduce((sum, each) => sum + each.ratedTransactions[0].amount, 0);
    // 12,000 calls: 1,000 free, 9,000 at 0.02 = 180, 2,000 at 0.01 = 20 (spec/rating.md R34).
    expect(Math.round(total * 1e6) / 1e6).to.equal(200);
    const before = events.map(
      (each) => each.ratedTransactions[0].explanation.rows[0].counter.before,
    );
    const expected = Array.from({ length: 40 }, (_each, index) => String(index * 300));
    expect(before.sort((a, b) => a - b)).to.deep.equal(expected);
  });

  it('show a change of the catalog at once', async () => {
    const serviceId = await createService(tenant, 'Changing', { rateCards: [flat(0.01)] });
    const first = await rate(tenant, usage('acme', serviceId));
    expect(first.ratedTransactions[0].amount).to.equal(1);
    const path = `${external}/services/${serviceId}/rate-cards/USD`;
    for (const [unitRate, amount] of [
      [0.02, 2],
      [0.05, 5],
    ] as const) {
      await tenant.put(path, flat(unitRate)).expect(200);
      const next = await rate(tenant, usage('acme', serviceId));
      expect(next.ratedTransactions[0].amount).to.equal(amount);
    }
    const again = await event(tenant, first.id as string);
    // What was charged stays as it was, and is still explained by the price of its time.
    expect(again.ratedTransactions).to.deep.equal(first.ratedTransactions);
    expect(again.ratedTransactions[0].matches).to.equal(true);
  });

  it('are rated by the exception price of a line from the next event on', async () => {
    const accountId = await createAccount(tenant, 'special');
    const serviceId = await createService(tenant, 'Special', { rateCards: [flat(0.01)] });
    const before = await rate(tenant, usage('special', serviceId));
    expect(before.ratedTransactions[0]).to.include({ amount: 1, contractId: null });
    const { body: contract } = await tenant
      .post(`${external}/contracts`, {
        name: 'Special',
        number: 'S-1',
        masterAccountId: accountId,
        startDate: '2026-01-01',
        services: [{ serviceId, serviceInstanceId: 'inst-1', rateCards: [flat(0.5)] }],
      })
      .expect(201);
    const under = await rate(tenant, usage('special', serviceId));
    expect(under.ratedTransactions[0]).to.include({ amount: 50, contractId: contract.id });
    const { explanation } = under.ratedTransactions[0];
    expect(explanation.card.source).to.equal('exception');
    expect(explanation.contractLine).to.include({
      contractNumber: 'S-1',
      serviceInstanceId: 'inst-1',
    });
    const line = explanation.contractLine.id as string;
    await tenant
      .put(`${external}/contract-services/${line}/end`, { terminationDate: '2026-03-14' })
      .expect(200);
    const ended = await rate(tenant, usage('special', serviceId));
    expect(ended.ratedTransactions[0]).to.include({ amount: 1, contractId: null });
  });

  it('pay out and bill others in charges of their own', async () => {
    const partner = await createAccount(tenant, 'partner');
    const row = { priceDimName: 'api_calls', priceMethod: 'QUANTITY' };
    const serviceId = await createService(tenant, 'Marketplace', {
      priceableAttributes: [
        { name: 'api_calls', dimensionDataType: 'Number' },
        { name: 'share', dimensionDataType: 'Number' },
      ],
      rateCards: [
        {
          currency: 'USD',
          rows: [
            { ...row, label: 'Calls', unitRate: 0.1 },
            {
              ...row,
              priceDimName: 'share',
              label: 'Share',
              unitRate: 0.03,
              usageType: 'Payout',
              billingAccountId: partner,
            },
          ],
        },
      ],
    });
    const shown = await rate(
      tenant,
      usage('acme', serviceId, { dimensions: { api_calls: '100', share: '100' } }),
    );
    const charges = shown.ratedTransactions as Record<string, unknown>[];
    expect(
      charges.map(({ usageType, amount, accountId, matches }) => [
        usageType,
        amount,
        accountId === partner,
        matches,
      ]),
    ).to.deep.equal([
      ['Charge', 10, false, true],
      ['Payout', 3, true, true],
    ]);
  });

  it('are summed up, while they stream, in numbers that always add up', async () => {
    const own = await instance.tenant();
    await createAccount(own, 'stream');
    const serviceId = await createService(own, 'Stream', meteredService);
    const seen = new Set<number>();
    let isSending = true;
    const watching = (async () => {
      while (isSending) {
        const now = await summary(own);
        const { accepted, rated, duplicate, rejected, pending } = now;
        expect(rated + duplicate + rejected + pending, JSON.stringify(now)).to.equal(accepted);
        expect(pending).to.be.at.least(0);
        seen.add(accepted);
      }
    })();
    for (let round = 0; round < 10; round += 1) {
      const events = Array.from({ length: 50 }, (_each, index) => ({
        message: usage('stream', serviceId, {
          externalTransactionId: `s-${round}-${index % 40}`,
          dimensions: { [index % 10 === 5 ? 'unknown' : 'api_calls']: '1' },
        }),
      }));
      await own.post('/v1/ingest/usage/batch', events).expect(200);
    }
    const end = await waitUntilRated(own, 500);
    isSending = false;
    await watching;
    expect(seen.size).to.be.greaterThan(1);
    // Of 50 in a round, 36 are rated, 4 (5, 15, 25, 35) rejected, and 10 repeat 0 to 9; that of 5
    // is rejected as 5 was, and what it repeats becomes the duplicate (spec/beyond.md R12).
    expect(end).to.deep.equal({
      accepted: 500,
      rated: 360,
      duplicate: 100,
      rejected: 40,
      pending: 0,
    });
  });

  describe('in the list', () => {
    let own: TestTenant;
    let ids: string[];
    let serviceId: string;
    before(async () => {
      own = await instance.tenant();
      await createAccount(own, 'lister');
      serviceId = await createService(own, 'Listed');
      ids = [];
      for (const [index, day] of ['2026-03-01', '2026-03-15', '2026-04-01'].entries()) {
        const eventTimestamp = `${day}T12:00:00Z`;
        const externalTransactionId = `list-${index}`;
        await rate(own, usage('lister', serviceId, { externalTransactionId, eventTimestamp }));
        ids.push(externalTransactionId);
      }
      await rate(own, usage('nobody', serviceId, { externalTransactionId: 'list-3' }));
      await send(
        own,
        usage('lister', serviceId, { externalTransactionId: 'list-3', dimensions: 5 }),
      );
      await waitUntilRated(own);
    });

    const list = async (query: string) => {
      const { body } = await own.get(`/v1/usage-events?${query}`).expect(200);
      return body as { data: Record<string, unknown>[]; pagination: Record<string, unknown> };
    };
    const idsOf = async (query: string) =>
      (await list(query)).data.map((each) => each['externalTransactionId']);

    it('come newest first, in pages', async () => {
      const all = await list('');
      expect(all.data.map(({ status }) => status)).to.deep.equal([
        'duplicate',
        'rejected',
        'rated',
        'rated',
        'rated',
      ]);
      expect(all.pagination).to.deep.equal({ total: 5, limit: 50, offset: 0, hasMore: false });
      const page = await list('limit=2&offset=1');
      expect(page.data).to.deep.equal(all.data.slice(1, 3));
      expect(page.pagination).to.deep.equal({ total: 5, limit: 2, offset: 1, hasMore: true });
    });

    it('can be chosen by each filter', async () => {
      expect(await idsOf('status=rated')).to.have.members(ids); // spec/rating.md R63
      expect(await idsOf('status=rejected')).to.deep.equal(['list-3']);
      expect(await idsOf('status=pending')).to.deep.equal([]);
      expect(await idsOf('code=INVALID_EVENT')).to.deep.equal(['list-3']);
      expect(await idsOf('externalTransactionId=list-1')).to.deep.equal(['list-1']);
      expect(await idsOf(`serviceId=${serviceId}`)).to.have.length(5);
      const { data } = await list('externalTransactionId=list-0');
      const account = `accountId=${String(data[0]?.['accountId'])}`;
      expect(await idsOf(`${account}&status=rated`)).to.have.members(ids);
      // spec/beyond.md R607: with what is no event; the duplicate names nobody.
      expect(await idsOf(account)).to.have.members([...ids, 'list-3']);
    });

    it('can be chosen by the time of the usage: a date is a whole day', async () => {
      expect(await idsOf('from=2026-03-15&to=2026-04-01&status=rated')).to.have.members([
        'list-1',
        'list-2',
      ]);
      expect(await idsOf('from=2026-03-15T12:00:01Z&status=rated')).to.deep.equal(['list-2']);
      expect(await idsOf('to=2026-03-15T12:00:00Z&status=rated')).to.deep.equal(['list-0']);
      const ends = ['0001-01-01 9999-12-31', '0000-01-01T00:00:00Z 9999-12-31T23:59:59-14:00'];
      for (const [first, last] of ends.map((end) => end.split(' '))) {
        expect(await idsOf(`from=${first}&to=${last}&status=rated`)).to.have.members(ids);
        expect(await idsOf(`to=${first}&status=rated`)).to.deep.equal([]);
        expect(await idsOf(`from=${last}&status=rated`)).to.deep.equal([]);
      }
    });

    for (const query of [
      'status=none',
      'code=NONE',
      'accountId=5',
      'from=yesterday',
      'to=2026-02-30',
      'from=2026-03-02&to=2026-03-01',
      'limit=0',
      'offset=-1',
    ]) {
      it(`refuse ${query}`, async () => {
        const { body } = await own.get(`/v1/usage-events?${query}`).expect(400);
        expect(body.error.code).to.equal('VALIDATION_ERROR');
      });
    }
  });

  it('are 404 when there is no such event', async () => {
    for (const key of ['nothing', '0190a000-0000-7000-8000-000000000000', '%25', 'a%2Fb']) {
      const { body } = await tenant.get(`/v1/usage-events/${key}`).expect(404);
      expect(body.error.code).to.equal('NOT_FOUND');
    }
  });

  it('of one tenant are not seen by another', async () => {
    const other = await instance.tenant();
    const serviceId = await createService(tenant, 'Secret', { rateCards: [flat(1)] });
    const shown = await rate(tenant, usage('acme', serviceId, { externalTransactionId: 'secret' }));
    await other.get(`/v1/usage-events/${shown.id as string}`).expect(404);
    await other.get('/v1/usage-events/secret').expect(404);
    await other.post(`/v1/usage-events/${shown.id as string}/retry`).expect(404);
    expect(await summary(other)).to.include({ accepted: 0, rated: 0 });
    // Service and account of another tenant are as good as none.
    await createAccount(other, 'mine');
    const foreign = await rate(other, usage('mine', serviceId));
    expect(foreign).to.include({ status: 'rejected', code: 'SERVICE_NOT_FOUND' });
  });

  it('tell what became of the events at places of the log, and of no others', async () => {
    const sender = await instance.tenant();
    await createAccount(sender, 'acme');
    const serviceId = await createService(sender, 'Calls');
    const good = usage('acme', serviceId);
    const messages = [good, good, usage('nobody', serviceId), usage('acme', serviceId)];
    const places: { partition: number; from: number; to: number }[] = [];
    for (const message of messages) {
      const { body } = await sender.post('/v1/ingest/usage', { message }).expect(200);
      const { partition, offset } = body as { partition: number; offset: number };
      places.push({ partition, from: offset, to: offset + 1 });
    }
    await waitUntilRated(sender, 4);
    const path = '/v1/usage-events/outcomes';
    const { body } = await sender.post(path, { ranges: places.slice(0, 3) }).expect(200);
    const { reasons, rejectedEvents, ...tally } = body;
    expect(tally).to.deep.equal({
      accepted: 3,
      rated: 1,
      duplicate: 1,
      rejected: 1,
      canceled: 0,
      pending: 0,
    });
    expect(reasons).to.deep.equal([{ code: 'ACCOUNT_NOT_FOUND', events: 1 }]);
    expect(rejectedEvents).to.have.length(1);
    expect(rejectedEvents[0]).to.include({
      externalTransactionId: messages[2]?.externalTransactionId,
      partition: places[2]?.partition,
      offset: places[2]?.from,
    });
    // Nothing is there yet; and nobody else's is ever there.
    const ahead = { partition: places[0]?.partition, from: 1000, to: 1002 };
    const waiting = await sender.post(path, { ranges: [ahead] }).expect(200);
    expect(waiting.body).to.include({ accepted: 2, rated: 0, pending: 2 });
    const other = await (await instance.tenant()).post(path, { ranges: places }).expect(200);
    expect(other.body).to.include({ accepted: 4, rated: 0, rejected: 0, pending: 4 });
    const inverted = await sender.post(path, { ranges: [{ partition: 0, from: 5, to: 5 }] });
    expect([inverted.status, inverted.body.error.message]).to.deep.equal([
      400,
      'A range ends at 5, which is not after 5.',
    ]);
    const wide = await sender.post(path, { ranges: [{ partition: 0, from: 0, to: 100_001 }] });
    expect([wide.status, wide.body.error.message]).to.deep.equal([
      400,
      'The ranges have 100001 events; ask for at most 100000 at once.',
    ]);
  });
});
