import { expect } from 'chai';
import { meteredService, summary, tiers, usage, type Message } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

/** What somebody does to corrections who knows nothing of them but their contract. */
describe('corrections, used by a stranger', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'It was wrong.';

  const calls = (serviceId: string, api_calls: string, more: Message = {}): Message =>
    usage('acme', serviceId, { dimensions: { api_calls }, ...more });
  const amountsOf = async (...ids: string[]): Promise<number[][]> =>
    Promise.all(
      ids.map(async (id) =>
        (await story.event(id)).ratedTransactions.map(
          (charge: { amount: number }) => charge.amount,
        ),
      ),
    );
  const rerate = (data: object) =>
    tenant.post('/v1/workflows/rerate-usage/execute', {
      data: { from: '2026-03-01', to: '2026-04-01', reason, ...data },
    });
  const open = async (): Promise<string> => {
    await story.account('acme');
    return story.service('Metered', meteredService);
  };

  // spec/beyond.md R141, R201, R203, R210
  it('bodies that are not as declared are 400 and name the property', async () => {
    const serviceId = await open();
    const message = calls(serviceId, '800');
    const [a = ''] = await story.send(message);
    const bad: readonly (readonly [way: string, body: unknown, named: string])[] = [
      ['cancel', {}, 'reason'],
      ['cancel', { reason: '' }, 'reason'],
      ['cancel', { reason: '  ' }, 'reason'],
      ['cancel', { reason: null }, 'reason'],
      ['cancel', { reason: 7 }, 'reason'],
      ['cancel', { reason: 'x'.repeat(1001) }, 'reason'],
      ['cancel', { reason, because: 1 }, 'because'],
      ['amend', { reason }, 'message'],
      ['amend', { reason, message: null }, 'message'],
      ['amend', { reason, message: [] }, 'message'],
      ['amend', { reason, message: 'text' }, 'message'],
      ['amend', { message }, 'reason'],
      ['amend', { reason, message, more: true }, 'more'],
    ];
    for (const [way, body, named] of bad) {
      const answer = await tenant.post(`/v1/usage-events/${a}/${way}`, body);
      expect(answer.status, `${way} ${JSON.stringify(body).slice(0, 80)}`).to.equal(400);
      expect(JSON.stringify(answer.body)).to.include(named);
    }
    const worse: readonly object[] = [
      { from: 'yesterday' },
      { from: null },
      { to: undefined, from: '2026-03-01' },
      { reason: '' },
      { reason: '   ' },
      { accountId: '01939c6e-7a01-7000-8000-00000000dead' },
      { serviceId: 'nothing' },
      { contractId: '01939c6e-7a01-7000-8000-00000000dead' },
      { dryRun: 'yes' },
      { account: 'acme' },
    ];
    for (const data of worse) {
      const answer = await rerate(data);
      expect(answer.status, JSON.stringify(data)).to.equal(400);
    }
    for (const [from, to] of [
      ['2026-04-01', '2026-03-01'],
      ['2026-03-01', '2026-03-01'],
      ['2026-03-01', '2026-03-01T00:00:00Z'],
    ]) {
      const { body } = await rerate({ from, to }).expect(400);
      expect(body.error).to.deep.include({
        message: `'from' must be before 'to': '${from}' is not before '${to}'`,
        details: { field: 'from', value: from },
      });
    }
    expect(await amountsOf(a)).to.deep.equal([[0]]);
    expect((await tenant.get('/v1/corrections').expect(200)).body.pagination.total).to.equal(0);
  });

  it('what is read is 404 where it is not there, and 400 where the question is wrong', async () => {
    const nobody = '01939c6e-7a01-7000-8000-00000000dead';
    await tenant.get(`/v1/corrections/${nobody}`).expect(404);
    await tenant.get('/v1/corrections/nothing').expect(404);
    await tenant.get(`/v1/corrections/${nobody}/charges`).expect(404);
    await tenant.get('/v1/corrections?event=1').expect(400);
    await tenant.get('/v1/corrections?eventId=1').expect(400);
    await tenant.get('/v1/corrections?limit=0').expect(400);
    await tenant.get(`/v1/corrections/${nobody}/charges?explain=perhaps`).expect(400);
    await tenant.get('/v1/usage?knownOn=yesterday').expect(400);
    await tenant.get('/v1/usage?knownOn=').expect(400);
    await tenant.post(`/v1/usage-events/${nobody}/cancel`, { reason }).expect(404);
    await tenant.post(`/v1/usage-events/${nobody}/amend`, { reason, message: {} }).expect(404);
  });

  it('roles: who reads cannot correct, who operates can', async () => {
    const serviceId = await open();
    const [a = ''] = await story.send(calls(serviceId, '1800'));
    const reader = await story.instance.tenant(['READER'], tenant.id);
    const operator = await story.instance.tenant(['OPERATOR'], tenant.id);
    await reader.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(403);
    await reader
      .post(`/v1/usage-events/${a}/amend`, { reason, message: calls(serviceId, '1') })
      .expect(403);
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    await reader.post('/v1/workflows/rerate-usage/execute', { data }).expect(403);
    await operator.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    const { body } = await operator.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200);
    await reader.get(`/v1/corrections/${body.correctionId}/charges?explain=true`).expect(200);
  });

  it('the same key gives the same answer, another body under it is 409', async () => {
    const serviceId = await open();
    const [a = ''] = await story.send(calls(serviceId, '1800'));
    const cancel = (why: string) =>
      tenant
        .post(`/v1/usage-events/${a}/cancel`, { reason: why })
        .set('Idempotency-Key', 'once-more');
    const first = await cancel(reason).expect(200);
    const second = await cancel(reason).expect(200);
    expect(second.body).to.deep.equal(first.body);
    await cancel('Another.').expect(409);
    const { body } = await tenant.get('/v1/corrections').expect(200);
    expect(body.pagination.total).to.equal(1);
    const execution = await tenant
      .get(`/v1/audit?entityId=${first.body.correctionId}`)
      .then(({ status }) => status);
    expect([200, 400]).to.include(execution);
  });

  it('of ten that cancel at once, one does', async () => {
    const serviceId = await open();
    const [a = '', b = ''] = await story.send(calls(serviceId, '1800'), calls(serviceId, '200'));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => tenant.post(`/v1/usage-events/${a}/cancel`, { reason })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
    expect(await amountsOf(a, b)).to.deep.equal([[], [0]]);
  });

  it('an account and a service that are gone do not keep usage from being canceled', async () => {
    const serviceId = await open();
    const accountId = (await tenant.get(`${external}/accounts?size=1`)).body.data.content[0].Id;
    const [a = '', b = ''] = await story.send(calls(serviceId, '800'), calls(serviceId, '800'));
    await tenant.put(`${external}/accounts/${accountId}/deactivate`, {}).then(async (answer) => {
      if (answer.status === 404 || answer.status === 405) {
        await tenant.post(`${external}/accounts/${accountId}/deactivate`, {}).expect(200);
      }
    });
    const { body } = await tenant
      .post(`/v1/usage-events/${a}/amend`, {
        reason,
        message: calls(serviceId, '1', { externalTransactionId: a }),
      })
      .expect(400);
    expect(JSON.stringify(body)).to.include('ACCOUNT_INACTIVE');
    const again = await rerate({}).expect(200);
    expect(again.body.output).to.deep.include({
      events: 2,
      changed: 0,
      rejected: [{ code: 'ACCOUNT_INACTIVE', events: 2 }],
      // 800 are free, 600 x 0.02 = 12.
      before: [{ currency: 'USD', amount: 12 }],
      after: [{ currency: 'USD', amount: 12 }],
    });
    await tenant.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200);
    expect(await amountsOf(a, b)).to.deep.equal([[], [0]]);
  });

  it('what is canceled stays so: sent again, sent otherwise, retried', async () => {
    const serviceId = await open();
    const message = calls(serviceId, '1800');
    const rejected = usage('nobody', serviceId);
    const [a = '', b = ''] = await story.send(message, rejected);
    for (const id of [a, b]) {
      await tenant.post(`/v1/usage-events/${id}/cancel`, { reason }).expect(200);
    }
    await story.send(message);
    await story.send({ ...message, dimensions: { api_calls: '5' } });
    await story.send(rejected);
    await story.account('nobody');
    await tenant.post(`/v1/usage-events/${b}/retry`, {}).expect(409);
    await tenant.post('/v1/usage-events/retry', {}).expect(200);
    await story.rated();
    for (const id of [a, b]) {
      expect(await story.event(id)).to.include({ status: 'canceled' });
    }
    const { rated } = await summary(tenant);
    expect(rated).to.equal(0);
    const { body } = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(body.accepted).to.equal(
      body.rated + body.duplicate + body.rejected + body.canceled + body.pending,
    );
    expect(body.canceled).to.equal(2);
    const listed = await tenant.get('/v1/usage-events?status=canceled').expect(200);
    expect(listed.body.pagination.total).to.equal(2);
    const totals = await tenant.get('/v1/usage').expect(200);
    expect(totals.body.data).to.deep.equal([]);
  });

  it('amended again and again, then canceled: reversals of what stood, and nothing is left', async () => {
    const serviceId = await open();
    const [a = '', b = ''] = await story.send(calls(serviceId, '1000'), calls(serviceId, '100'));
    for (const number of ['2000', '1500', '10']) {
      await tenant
        .post(`/v1/usage-events/${a}/amend`, {
          reason,
          message: calls(serviceId, number, { externalTransactionId: a }),
        })
        .expect(200);
    }
    // 10 and 100 of the free thousand.
    expect(await amountsOf(a, b)).to.deep.equal([[0], [0]]);
    await tenant.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200);
    const { body } = await tenant.get(`${external}/rated-transactions?size=100`).expect(200);
    const rows = body.data.content as { Amount: number; Quantity: number }[];
    expect(rows.reduce((sum, { Amount }) => sum + Amount, 0)).to.equal(0);
    expect(rows.reduce((sum, { Quantity }) => sum + Quantity, 0)).to.equal(100);
    const [row] = (await tenant.get('/v1/usage')).body.data;
    expect(row).to.include({ events: 1, quantity: 100, amount: 0 });
  });

  it('a contract, and only usage of it', async () => {
    const accountId = await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const other = await story.service('Other', { ...meteredService });
    const contract = await story.subscribe(accountId, [serviceId], { startDate: '2026-01-01' });
    const ids = await story.send(
      calls(serviceId, '1800'),
      calls(other, '1800'),
      calls(serviceId, '100'),
    );
    for (const id of [serviceId, other]) {
      await tenant
        .post(`${external}/services/${id}/rate-cards/USD/versions`, {
          currency: 'USD',
          fromDate: '2026-03-01',
          rows: [
            { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate: 1 },
          ],
        })
        .expect(201);
    }
    const { body } = await rerate({ contractId: contract.id }).expect(200);
    expect(body.output).to.deep.include({
      events: 2,
      changed: 2,
      // 800 x 0.02 = 16 and 100 x 0.02 = 2; then 1.00 each.
      before: [{ currency: 'USD', amount: 18 }],
      after: [{ currency: 'USD', amount: 1900 }],
    });
    expect(await amountsOf(...ids)).to.deep.equal([[1800], [16], [100]]);
    const { body: page } = await tenant
      .get(`/v1/corrections/${body.output.correctionId}/charges?explain=true&limit=1&offset=1`)
      .expect(200);
    expect(page.pagination).to.include({ total: 2, limit: 1, offset: 1 });
    expect(page.data[0]).to.include({ before: 2, after: 100, difference: 98 });
    expect(page.data[0].firstDifference.step).to.equal('card');
    const { body: record } = await tenant
      .get(`/v1/corrections/${body.output.correctionId}`)
      .expect(200);
    expect(record).to.include({ kind: 'rerate', contractId: contract.id, actor: 'tester', reason });
  });

  it('parallel corrections of one counter leave what one after another leaves', async () => {
    const serviceId = await open();
    const numbers = ['700', '600', '500', '400', '300', '200', '100'];
    const ids = await story.send(...numbers.map((number) => calls(serviceId, number)));
    const [a = '', b = '', c = '', d = ''] = ids;
    const message = calls(serviceId, '900', { externalTransactionId: c });
    await Promise.all([
      tenant.post(`/v1/usage-events/${a}/cancel`, { reason }).expect(200),
      tenant.post(`/v1/usage-events/${b}/cancel`, { reason }).expect(200),
      tenant.post(`/v1/usage-events/${c}/amend`, { reason, message }).expect(200),
      rerate({}).expect(200),
      story.send(calls(serviceId, '1000')),
      tenant.post(`/v1/usage-events/${d}/cancel`, { reason }).expect(200),
    ]);
    await story.rated();
    // 900 free; 300: 100 free, 200 x 0.02 = 4; 200 x 0.02 = 4; 100 x 0.02 = 2; 1,000 x 0.02 = 20.
    expect(await amountsOf(...ids)).to.deep.equal([[], [], [0], [], [4], [4], [2]]);
    const [row] = (await tenant.get('/v1/usage')).body.data;
    expect(row).to.include({ events: 5, quantity: 2500, amount: 30 });
    expect((await rerate({}).expect(200)).body.output).to.include({ changed: 0 });
  });

  // spec/beyond.md R202, R203
  it('a later event above the last tier keeps its charges; the event itself above it is 400', async () => {
    await story.account('acme');
    const row = { priceDimName: 'api_calls', label: 'API calls' };
    const serviceId = await story.service('Closed', {
      ...meteredService,
      rateCards: [{ currency: 'USD', rows: [{ ...row, ...tiers([0, 1000, 0], [1000, 2000, 1]) }] }],
    });
    const [a = '', b = ''] = await story.send(calls(serviceId, '900'), calls(serviceId, '900'));
    // 100 free, 800 x 1.
    expect(await amountsOf(a, b)).to.deep.equal([[0], [800]]);
    const amend = (number: string) =>
      tenant.post(`/v1/usage-events/${a}/amend`, {
        reason,
        message: calls(serviceId, number, { externalTransactionId: a }),
      });
    const { body: refused } = await amend('2500').expect(400);
    expect(JSON.stringify(refused)).to.include('VOLUME_ABOVE_TIERS');
    expect(await amountsOf(a, b)).to.deep.equal([[0], [800]]);
    const { body } = await amend('1500').expect(200);
    // 500 x 1; b would end at 2,400.
    expect(await amountsOf(a, b)).to.deep.equal([[500], [800]]);
    const { body: correction } = await tenant
      .get(`/v1/corrections/${body.correctionId}`)
      .expect(200);
    expect(correction).to.deep.include({
      events: 1,
      changed: 1,
      rejected: [{ code: 'VOLUME_ABOVE_TIERS', events: 1 }],
    });
    await amend('100').expect(200);
    // 900 free from 100 on: 1,000 are reached exactly.
    expect(await amountsOf(a, b)).to.deep.equal([[0], [0]]);
  });
});
