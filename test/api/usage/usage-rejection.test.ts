import { expect } from 'chai';
import { external, type TestTenant } from '../../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  rate,
  send,
  tiers,
  usage,
  waitUntilRated,
  type Message,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const retry = (tenant: TestTenant, id: string) => tenant.post(`/v1/usage-events/${id}/retry`);

describe('usage events that cannot be rated', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let accountId: string;
  const services: Record<string, string> = {};
  before(async () => {
    accountId = await createAccount(tenant, 'acme');
    await createAccount(tenant, 'euro', { defaultCurrency: 'EUR' });
    const asleep = await createAccount(tenant, 'asleep');
    await setStatus('account', asleep, { status: 'Inactive' });
    services['plain'] = await createService(tenant, 'Plain');
    services['inactive'] = await createService(tenant, 'Inactive', { serviceStatus: 'Inactive' });
    const row = { priceDimName: 'api_calls', label: 'Calls' };
    services['regional'] = await createService(tenant, 'Regional', {
      inputAttributes: [{ name: 'region', dimensionDataType: 'String' }],
      rateCards: [
        {
          currency: 'USD',
          rows: [
            {
              ...row,
              priceMethod: 'QUANTITY',
              unitRate: 1,
              attributeValues: [{ attributeName: 'region', attributeValue: 'eu' }],
            },
          ],
        },
      ],
    });
    services['closed'] = await createService(tenant, 'Closed', {
      rateCards: [{ currency: 'USD', rows: [{ ...row, ...tiers([0, 99, 1]) }] }],
    });
    services['divided'] = await createService(tenant, 'Divided', {
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'price',
          transactionDimension: 'api_calls',
          steps: [{ name: 'price', formula: 'Price(api_calls, 1) / (api_calls - 100)' }],
        },
      ],
    });
    services['broken'] = await createService(tenant, 'Broken', {
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'price',
          transactionDimension: 'api_calls',
          steps: [{ name: 'price', formula: '1' }],
        },
      ],
    });
  });

  /** Columns that this part of the API cannot set yet. */
  const setStatus = async (table: string, id: string, columns: object): Promise<void> => {
    await tenant.scope.db.transaction(async (trx) => {
      await trx(table)
        .where({ tenantId: tenant.id, id })
        .update({ ...columns, ratingVersion: trx.raw('rating_version + 1') });
    });
  };

  const cases: [code: string, name: string, message: () => Message, reason: RegExp][] = [
    [
      'INVALID_EVENT',
      'without time',
      () => ({ ...plain(), eventTimestamp: null }),
      /eventTimestamp/,
    ],
    [
      'INVALID_EVENT',
      'with a time that is none',
      () => ({ ...plain(), eventTimestamp: '2026-02-30T00:00:00Z' }),
      /eventTimestamp/,
    ],
    ['INVALID_EVENT', 'without dimensions', () => ({ ...plain(), dimensions: {} }), /dimensions/],
    [
      'INVALID_EVENT',
      'with a number as dimension',
      () => ({ ...plain(), dimensions: { api_calls: 5 } }),
      /"5"/,
    ],
    ['INVALID_EVENT', 'with a negative quantity', () => ({ ...plain(), quantity: -1 }), /negative/],
    [
      'INVALID_EVENT',
      'with NUL in a dimension',
      () => ({ ...plain(), dimensions: { api_calls: '1\0' } }),
      /NUL/,
    ],
    [
      'INVALID_EVENT',
      'with half a character',
      () => ({ ...plain(), billingAccountRef: '\ud800' }),
      /Unicode/,
    ],
    [
      'ACCOUNT_NOT_FOUND',
      'of nobody',
      () => ({ ...plain(), billingAccountRef: 'nobody' }),
      /'nobody'/,
    ],
    [
      'ACCOUNT_INACTIVE',
      'of an inactive account',
      () => ({ ...plain(), billingAccountRef: 'asleep' }),
      /asleep/,
    ],
    [
      'SERVICE_NOT_FOUND',
      'of no service',
      () => ({ ...plain(), serviceId: '0190a000-0000-7000-8000-000000000000' }),
      /0190a000/,
    ],
    ['SERVICE_INACTIVE', 'of an inactive service', () => of('inactive'), /Inactive/],
    [
      'INSTANCE_NOT_FOUND',
      'of an instance without a line',
      () => ({ ...plain(), serviceInstanceId: 'i' }),
      /'i'/,
    ],
    [
      'NO_RATE_CARD',
      'in a currency without card',
      () => ({ ...plain(), billingAccountRef: 'euro' }),
      /EUR/,
    ],
    [
      'UNKNOWN_DIMENSION',
      'with an unknown dimension',
      () => ({ ...plain(), dimensions: { x: '1' } }),
      /'x'/,
    ],
    [
      'INVALID_DIMENSION',
      'with a word for a number',
      () => ({ ...plain(), dimensions: { api_calls: 'many' } }),
      /api_calls/,
    ],
    [
      'NO_MATCHING_ROW',
      'in a region without a row',
      () => of('regional', { api_calls: '1', region: 'us' }),
      /region=us/,
    ],
    ['VOLUME_ABOVE_TIERS', 'above the last tier', () => of('closed'), /99/],
    ['FORMULA_ERROR', 'that divide by zero', () => of('divided'), /zero/],
  ];
  const of = (name: string, dimensions: object = { api_calls: '100' }): Message =>
    usage('acme', services[name] ?? '', { dimensions });
  const plain = (): Message => of('plain');

  for (const [code, name, message, reason] of cases) {
    // spec/rating.md R6, R7, R59, R60
    it(`${name} are ${code}, and can be seen`, async () => {
      const sent = message();
      const shown = await rate(tenant, sent);
      expect(shown).to.include({ status: 'rejected', code });
      expect(shown.reason).to.match(reason);
      expect(shown.ratedTransactions).to.deep.equal([]);
      expect(shown.workflowId).to.be.a('string');
      const { body } = await tenant
        .get(`/v1/usage-events?status=rejected&code=${code}`)
        .expect(200);
      const ids = body.data.map(({ id }: { id: string }) => id);
      expect(ids[0]).to.equal(shown.id);
    });
  }

  // spec/rating.md R59
  it('are kept even when nothing of them can be read', async () => {
    const before = await waitUntilRated(tenant);
    const garbage = ['{}', '{"externalTransactionId": 5}', '{"externalTransactionId": "a\\u0000"}'];
    for (const message of garbage) {
      await tenant.post('/v1/ingest/usage', `{"message": ${message}}`).expect(200);
    }
    const after = await waitUntilRated(tenant);
    expect(after.rejected - before.rejected).to.equal(3);
    const { body } = await tenant.get('/v1/usage-events?limit=3').expect(200);
    expect(body.data).to.have.length(3);
    for (const each of body.data) {
      expect(each).to.include({ status: 'rejected', code: 'INVALID_EVENT' });
      expect(each.externalTransactionId).to.equal(null);
      const shown = await event(tenant, each.id as string);
      expect(shown.message).to.be.an('object');
    }
  });

  // spec/rating.md R61
  it('do not keep others of their batch from being rated', async () => {
    const before = await waitUntilRated(tenant);
    const good = Array.from({ length: 20 }, () => plain());
    const messages = good.flatMap((message) => [message, { ...plain(), quantity: 'x' }, {}]);
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        messages.map((message) => ({ message })),
      )
      .expect(200);
    const after = await waitUntilRated(tenant);
    expect(after.rated - before.rated).to.equal(20);
    expect(after.rejected - before.rejected).to.equal(40);
  });

  it('because of an error of ours are INTERNAL_ERROR, hold up nobody, and can be retried', async () => {
    const serviceId = services['broken'] ?? '';
    await tenant.scope.db
      .read('pricingLogic')
      .where({ serviceId })
      .update({ steps: '[{"name": "price"}]' });
    await setStatus('service', serviceId, {});
    const [broken = '', fine = ''] = await send(tenant, of('broken'), plain());
    await waitUntilRated(tenant);
    expect(await event(tenant, broken)).to.include({ status: 'rejected', code: 'INTERNAL_ERROR' });
    expect(await event(tenant, fine)).to.include({ status: 'rated' });
    await tenant.scope.db
      .read('pricingLogic')
      .where({ serviceId })
      .update({ steps: '[{"name": "price", "formula": "2"}]' });
    await setStatus('service', serviceId, {});
    const { body } = await retry(tenant, broken).expect(200);
    expect(body).to.include({ status: 'rated', code: null });
    expect(body.ratedTransactions[0].amount).to.equal(2);
  });

  describe('are rated again', () => {
    // spec/rating.md R62
    it('one by one, after the cause was mended', async () => {
      const sent = { ...plain(), billingAccountRef: 'later' };
      const rejected = await rate(tenant, sent);
      const before = await waitUntilRated(tenant);
      const inVain = await retry(tenant, rejected.id as string).expect(200);
      expect(inVain.body).to.include({ status: 'rejected', code: 'ACCOUNT_NOT_FOUND' });
      expect(await waitUntilRated(tenant)).to.deep.equal(before);
      await createAccount(tenant, 'later');
      const { body } = await retry(tenant, rejected.id as string).expect(200);
      expect(body).to.include({
        id: rejected.id,
        status: 'rated',
        code: null,
        offset: rejected.offset,
      });
      expect(body.ratedTransactions[0]).to.include({ amount: 1, matches: true });
      expect(body.workflowId).to.equal(`${tenant.id}/usage-retry/${body.id as string}`);
      expect(await waitUntilRated(tenant)).to.deep.equal({
        ...before,
        rated: before.rated + 1,
        rejected: before.rejected - 1,
      });
      const again = await retry(tenant, rejected.id as string).expect(409);
      expect(again.body.error.code).to.equal('CONFLICT');
    });

    it('once under one Idempotency-Key, however often it is sent', async () => {
      const [id = ''] = await send(tenant, { ...plain(), billingAccountRef: 'keyed' });
      await waitUntilRated(tenant);
      const { id: eventId } = await event(tenant, id);
      const keyed = (path: string, key: string) =>
        tenant.post(`/v1/usage-events/${path}`, {}).set('Idempotency-Key', key);
      const one = `${eventId as string}/retry`;
      const inVain = await keyed(one, 'first').expect(200);
      expect(inVain.body).to.include({ status: 'rejected', code: 'ACCOUNT_NOT_FOUND' });
      await createAccount(tenant, 'keyed');
      // The retry of this key has been, and did not help.
      expect((await keyed(one, 'first').expect(200)).body.status).to.equal('rejected');
      const [rated, twin] = await Promise.all([keyed(one, 'second'), keyed(one, 'second')]);
      expect([rated.status, twin.status]).to.deep.equal([200, 200]);
      expect(rated.body.status).to.equal('rated');
      expect((await keyed(one, 'second').expect(200)).body).to.deep.equal(rated.body);
      await keyed(one, 'third').expect(409);
      await keyed('retry', 'second').expect(409);
      const [all, again] = [await keyed('retry', 'all'), await keyed('retry', 'all')];
      expect(all.body.retried).to.be.greaterThan(0);
      expect(again.body).to.deep.equal(all.body);
      expect((await keyed(one, 'not a key').expect(400)).body.error.code).to.equal(
        'VALIDATION_ERROR',
      );
    });

    // spec/rating.md R62
    it('by filter, in the order in which they came, more than a page of them', async () => {
      const own = await instance.tenant();
      const serviceId = await createService(own, 'Metered', {
        priceableAttributes: [
          { name: 'api_calls', dimensionDataType: 'Number', isMeterDimension: true },
        ],
        rateCards: [
          {
            currency: 'USD',
            rows: [
              { priceDimName: 'api_calls', label: 'Calls', ...tiers([0, 600, 1], [600, null, 0]) },
            ],
          },
        ],
      });
      const messages = Array.from({ length: 1200 }, (_each, index) =>
        usage('missing', serviceId, {
          externalTransactionId: `r-${index}`,
          dimensions: { api_calls: '1' },
        }),
      );
      for (const half of [messages.slice(0, 600), messages.slice(600)]) {
        await own
          .post(
            '/v1/ingest/usage/batch',
            half.map((message) => ({ message })),
          )
          .expect(200);
      }
      await send(own, usage('other', serviceId));
      await waitUntilRated(own, 1201);
      await createAccount(own, 'missing');
      const path = '/v1/usage-events/retry';
      const none = await own.post(path, { code: 'NO_RATE_CARD' }).expect(200);
      expect(none.body).to.include({ retried: 0, rated: 0, rejected: 0 });
      // spec/beyond.md R493: 500 x 1, of 1,201.
      const tried = await own.post(path, { code: 'ACCOUNT_NOT_FOUND', dryRun: true }).expect(200);
      expect(tried.body).to.deep.equal({
        retried: 500,
        rated: 500,
        rejected: 0,
        isComplete: false,
        sums: [{ currency: 'USD', amount: 500 }],
        reasons: [],
        dryRun: true,
      });
      const { body: before } = await own.get('/v1/usage-events/summary').expect(200);
      expect(before).to.include({ rated: 0, rejected: 1201 });
      const { body } = await own
        .post(path, { code: 'ACCOUNT_NOT_FOUND', status: 'rejected' })
        .expect(200);
      expect(body).to.include({ retried: 1201, rated: 1200, rejected: 1 });
      const ended = { accepted: 1201, rated: 1200, duplicate: 0, rejected: 1, pending: 0 };
      expect(await waitUntilRated(own)).to.deep.equal(ended);
      // The first 600 cost 1 each, those after them nothing.
      for (const [id, amount] of [
        ['r-0', 1],
        ['r-599', 1],
        ['r-600', 0],
        ['r-1199', 0],
      ] as const) {
        expect((await event(own, id)).ratedTransactions[0]).to.include({ amount, matches: true });
      }
      const all = await own.post(path, {}).expect(200);
      const still = await own.post(path, { dryRun: true }).expect(200);
      const reasons = [{ code: 'ACCOUNT_NOT_FOUND', events: 1 }];
      expect(still.body).to.deep.include({ rated: 0, rejected: 1, isComplete: true, reasons });
      const { executionId, ...counts } = all.body;
      expect(counts).to.deep.equal({ retried: 1, rated: 0, rejected: 1 });
      // spec/flows.md R28
      const executions = '/v1/workflows/retry-usage/executions';
      const { body: done } = await own.get(`${executions}/${executionId}`).expect(200);
      expect(done).to.deep.include({ status: 'completed', output: counts });
      const { body: listed } = await own.get(executions).expect(200);
      expect(listed.pagination.total).to.equal(3);
    });

    for (const body of [{ status: 'rated' }, { code: 'X' }, { unknown: 1 }, { from: 'x' }, []]) {
      it(`not with ${JSON.stringify(body)}`, async () => {
        const answer = await tenant.post('/v1/usage-events/retry', body).expect(400);
        expect(answer.body.error.code).to.equal('VALIDATION_ERROR');
      });
    }

    it('not when there is no such event', async () => {
      await retry(tenant, 'nothing').expect(404);
    });
  });

  it('name the account where there is one', async () => {
    const { body } = await tenant
      .get(`/v1/usage-events?accountId=${accountId}&limit=1000`)
      .expect(200);
    const codes = new Set(body.data.map(({ code }: { code: string }) => code));
    expect(codes).to.include('SERVICE_NOT_FOUND').and.include('FORMULA_ERROR');
    expect(codes).to.not.include('ACCOUNT_NOT_FOUND');
    await tenant.get(`${external}/accounts/${accountId}`).expect(200);
  });
});
