import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { meteredService, summary, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { openReceiver } from '../support/servers/receiver.js';
import { useStory } from '../support/story/story.js';

interface Corrected {
  readonly eventId: string;
  readonly status: string;
  readonly correctionId: string;
  readonly executionId: string;
  readonly dryRun?: boolean;
  readonly preview?: object;
}

/** Usage that was wrong, corrected after it was rated. */
describe('corrections of rated usage', () => {
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;
  const reason = 'The meter was read twice.';

  const correct = async (id: string, way: string, body: object = {}): Promise<Corrected> =>
    (await tenant.post(`/v1/usage-events/${id}/${way}`, { reason, ...body }).expect(200)).body;
  const amountOf = async (id: string): Promise<number[]> =>
    (await story.event(id)).ratedTransactions.map((charge: { amount: number }) => charge.amount);
  const totals = async (query = ''): Promise<object[]> =>
    (await tenant.get(`/v1/usage?${query}`).expect(200)).body.data;
  const charges = async (id: string, query = '') =>
    (await tenant.get(`/v1/corrections/${id}/charges?${query}`).expect(200)).body.data;
  const calls = (serviceId: string, ...numbers: string[]) =>
    numbers.map((api_calls) => usage('acme', serviceId, { dimensions: { api_calls } }));

  // spec/beyond.md R200, R201, R205
  it('cancel an event: its charges are reversed, and its external id stays taken', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const [first, second] = calls(serviceId, '100', '50');
    if (!first || !second) throw new Error('Two were made.');
    const [id = ''] = await story.send(first, second);
    const done = await correct(id, 'cancel');
    const event = await story.event(id);
    expect(done).to.deep.include({ eventId: event.id, status: 'canceled' });
    expect(event).to.deep.include({
      status: 'canceled',
      code: null,
      reason,
      ratedTransactions: [],
    });
    const { body } = await tenant.get(`${external}/rated-transactions`).expect(200);
    const rows = body.data.content as {
      ExternalTranId: string;
      Amount: number;
      Reverses: string;
    }[];
    // 100 x 0.01 = 1.00 and 50 x 0.01 = 0.50
    expect(rows.map(({ Amount, Reverses }) => [Amount, Reverses !== null]).sort()).to.deep.equal([
      [-1, true],
      [0.5, false],
      [1, false],
    ]);
    expect(body.data.totalElements).to.equal(3);
    expect(await totals()).to.deep.equal([
      { bucket: null, group: {}, currency: 'USD', events: 1, quantity: 50, amount: 0.5 },
    ]);
    const { body: counts } = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(counts).to.include({ accepted: 2, rated: 1, canceled: 1, rejected: 0, pending: 0 });
    for (const way of ['cancel', 'amend']) {
      const more = way === 'amend' ? { message: first } : {};
      await tenant.post(`/v1/usage-events/${id}/${way}`, { reason, ...more }).expect(409);
    }
    await story.send(first);
    expect(await summary(tenant)).to.include({ accepted: 3, rated: 1, duplicate: 1 });
    const { body: list } = await tenant.get('/v1/corrections').expect(200);
    expect(list.pagination.total).to.equal(1);
    expect(list.data[0]).to.deep.include({
      id: done.correctionId,
      kind: 'cancel',
      reason,
      executionId: done.executionId,
      eventId: event.id,
      events: 1,
      changed: 1,
      rejected: [],
      before: [{ currency: 'USD', amount: 1 }],
      after: [{ currency: 'USD', amount: 0 }],
    });
    const [charge] = await charges(done.correctionId);
    expect(charge).to.deep.include({ eventId: event.id, before: 1, after: 0, difference: -1 });
  });

  // spec/beyond.md R202, R206, R208
  it('correct later events of the same counter, in the order of the log', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const sent = calls(serviceId, '800', '800', '800', '8000');
    const [a = '', b = '', c = '', d = ''] = await story.send(...sent);
    // 1,000 are free, then 0.02 up to 10,000, then 0.01: 0; 600 x 0.02 = 12; 800 x 0.02 = 16;
    // 7,600 x 0.02 + 400 x 0.01 = 156.
    expect(await Promise.all([a, b, c, d].map(amountOf))).to.deep.equal([[0], [12], [16], [156]]);
    const done = await correct(b, 'cancel');
    // Without b: 0; 600 x 0.02 = 12; 8,000 from 1,600 on, all within 10,000: 160.
    expect(await Promise.all([a, b, c, d].map(amountOf))).to.deep.equal([[0], [], [12], [160]]);
    const { body } = await tenant.get(`/v1/corrections/${done.correctionId}`).expect(200);
    expect(body).to.deep.include({
      changed: 3,
      before: [{ currency: 'USD', amount: 184 }],
      after: [{ currency: 'USD', amount: 172 }],
    });
    const explained = await charges(done.correctionId, 'explain=true');
    expect(explained.map((one: { difference: number }) => one.difference)).to.deep.equal([
      -12, -4, 4,
    ]);
    expect(explained[1].firstDifference.step).to.equal('counter of api_calls');
    expect(explained[1].beforeExplanation.rows[0].counter.before).to.equal('1600');
    expect(explained[1].afterExplanation.rows[0].counter.before).to.equal('800');
    const event = await story.event(d);
    expect(event.ratedTransactions[0].matches).to.equal(true);
    // The next event goes on where the counter is: at 9,600, 400 x 0.02 + 600 x 0.01.
    const [e = ''] = await story.send(...calls(serviceId, '1000'));
    expect(await amountOf(e)).to.deep.equal([14]);
    expect(await totals('groupBy=attribute')).to.deep.include({
      bucket: null,
      group: { attribute: 'api_calls' },
      currency: 'USD',
      events: 4,
      quantity: 10_600,
      amount: 186,
    });
  });

  // spec/beyond.md R203
  it('amend an event in its place, move it to another account, and refuse what cannot be rated', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Metered', meteredService);
    const sent = calls(serviceId, '800', '800', '800');
    const [a = '', b = '', c = ''] = await story.send(...sent);
    const message = { ...sent[0], dimensions: { api_calls: '1000' } };
    const done = await correct(a, 'amend', { message });
    expect(done).to.include({ status: 'rated' });
    // 0; 800 x 0.02 = 16; 16.
    expect(await Promise.all([a, b, c].map(amountOf))).to.deep.equal([[0], [16], [16]]);
    const { body } = await tenant
      .post(`/v1/usage-events/${a}/amend`, {
        reason,
        message: { ...message, billingAccountRef: 'nobody' },
      })
      .expect(400);
    expect(JSON.stringify(body)).to.include('ACCOUNT_NOT_FOUND');
    const other = { reason, message: { ...message, externalTransactionId: 'another' } };
    await tenant.post(`/v1/usage-events/${a}/amend`, other).expect(400);
    expect(await amountOf(a)).to.deep.equal([0]);
    const without = { ...message, externalTransactionId: undefined };
    await correct(a, 'amend', { message: { ...without, billingAccountRef: 'globex' } });
    expect(await Promise.all([a, b, c].map(amountOf))).to.deep.equal([[0], [0], [12]]);
    const event = await story.event(a);
    expect(event).to.include({ billingAccountRef: 'globex', status: 'rated' });
    const { body: listed } = await tenant
      .get(`/v1/usage-events?accountId=${event.accountId}`)
      .expect(200);
    expect(listed.pagination.total).to.equal(1);
    // What was sent comes again: still a duplicate.
    await story.send(sent[0] ?? {});
    expect(await summary(tenant)).to.include({ rated: 3, duplicate: 1, rejected: 0 });
  });

  // spec/beyond.md R431
  it('say before what they would come to, and write nothing then', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Metered', meteredService);
    const sent = calls(serviceId, '800', '800', '800', '8000');
    const [a = '', b = '', c = '', d = ''] = await story.send(...sent);
    /** Tries it, does it, and says what both came to. */
    const compare = async (id: string, way: string, body: object = {}) => {
      const { preview, ...tried } = await correct(id, way, { ...body, dryRun: true });
      const { body: list } = await tenant.get('/v1/corrections').expect(200);
      const done = await correct(id, way, body);
      const { body: after } = await tenant.get('/v1/corrections').expect(200);
      expect(after.pagination.total).to.equal(list.pagination.total + 1);
      expect(tried).to.deep.include({ status: done.status, correctionId: null, dryRun: true });
      expect(done).to.not.have.property('dryRun');
      const execution = `/v1/workflows/${way}-usage-event/executions/${tried.executionId}`;
      const { body: recorded } = await tenant.get(execution).expect(200);
      expect(recorded.output).to.deep.include({ dryRun: true });
      const { body: found } = await tenant.get(`/v1/corrections/${done.correctionId}`).expect(200);
      const { changed, rejected, before, after: then } = found;
      expect(preview).to.deep.equal({ changed, rejected, before, after: then });
      return preview;
    };
    const usd = (amount: number) => [{ currency: 'USD', amount }];
    // 0, 12, 16 and 156, as above; at globex the 800 are free, and the others follow: 0, 12, 160.
    const moved = { ...sent[1], billingAccountRef: 'globex' };
    expect(await compare(b, 'amend', { message: moved })).to.deep.equal({
      changed: 3,
      rejected: [],
      before: usd(184),
      after: usd(172),
    });
    // Without the first: 0 instead of 12, and 7,800 x 0.02 instead of 160.
    expect(await compare(a, 'cancel')).to.deep.equal({
      changed: 3,
      rejected: [],
      before: usd(172),
      after: usd(156),
    });
    expect(await Promise.all([b, c, d].map(amountOf))).to.deep.equal([[0], [0], [156]]);
    const bad = { reason, dryRun: true, message: { ...sent[2], billingAccountRef: 'nobody' } };
    const { body } = await tenant.post(`/v1/usage-events/${c}/amend`, bad).expect(400);
    expect(JSON.stringify(body)).to.include('ACCOUNT_NOT_FOUND');
    await tenant.post(`/v1/usage-events/${a}/cancel`, { reason, dryRun: true }).expect(409);
    // To dismiss has no correction either: only `dryRun` tells that nothing was done.
    const [rejected = ''] = await story.send(usage('nobody', serviceId));
    const dismissal = { status: 'canceled', correctionId: null };
    const tried = await correct(rejected, 'cancel', { dryRun: true });
    expect(tried).to.deep.include({ ...dismissal, dryRun: true });
    const done = await correct(rejected, 'cancel');
    expect(done).to.include(dismissal);
    expect(done).to.not.have.property('dryRun');
  });

  // spec/beyond.md R204
  it('dismiss or mend an event that was rejected', async () => {
    await story.account('acme');
    const serviceId = await story.service('Calls');
    const [bad = '', worse = ''] = await story.send(
      usage('nobody', serviceId),
      usage('nobody', serviceId),
    );
    const dismissed = await correct(bad, 'cancel');
    expect(dismissed).to.include({ status: 'canceled', correctionId: null });
    const mended = await correct(worse, 'amend', {
      message: usage('acme', serviceId, { externalTransactionId: worse }),
    });
    expect(mended.correctionId).to.be.a('string');
    expect(await amountOf(worse)).to.deep.equal([1]);
    const { body: counts } = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(counts).to.include({ accepted: 2, rated: 1, canceled: 1, rejected: 0, pending: 0 });
    await tenant.post(`/v1/usage-events/${bad}/cancel`, { reason: '' }).expect(400);
    await tenant.post('/v1/usage-events/nothing/cancel', { reason }).expect(404);
  });

  // spec/platform.md R37, spec/beyond.md R207
  it('notify of what was canceled and corrected', async () => {
    const receiver = await openReceiver();
    try {
      await story.account('acme');
      const serviceId = await story.service('Metered', meteredService);
      const events = ['usage.canceled', 'usage.corrected'];
      await tenant
        .post('/v1/webhooks', { url: receiver.url, events, secret: 'a-secret-of-24-characters' })
        .expect(201);
      const [a = '', b = ''] = await story.send(...calls(serviceId, '1000', '800'));
      const { eventId, correctionId } = await correct(a, 'cancel');
      const received = await receiver.until((arrived) => arrived.length === 2);
      const told = received.map(({ payload: { event, data } }) => ({ event, ...(data as object) }));
      told.sort((one, other) => (one.event < other.event ? -1 : 1));
      expect(told[0]).to.deep.include({ event: 'usage.canceled', eventId, correctionId });
      expect(told[1]).to.deep.include({ event: 'usage.corrected', externalTransactionId: b });
    } finally {
      await receiver.close();
    }
  });

  // spec/beyond.md R210, R211
  it('rate a range again with what is in force now', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const [a = '', b = ''] = await story.send(...calls(serviceId, '1200', '800'));
    expect(await Promise.all([a, b].map(amountOf))).to.deep.equal([[4], [16]]);
    const run = async (more: object = {}) => {
      const data = { from: '2026-03-01', to: '2026-04-01', reason: 'A wrong price.', ...more };
      const { body } = await tenant
        .post('/v1/workflows/rerate-usage/execute', { data })
        .expect(200);
      expect(body.status, JSON.stringify(body.error)).to.equal('completed');
      return body.output;
    };
    const nothing = await run();
    expect(nothing).to.deep.include({
      dryRun: false,
      events: 2,
      changed: 0,
      rejected: [],
      before: [{ currency: 'USD', amount: 20 }],
      after: [{ currency: 'USD', amount: 20 }],
    });
    // Another free thousand, then 0.10: 1,200 are free up to 2,000, so are the 800.
    const card = {
      currency: 'USD',
      fromDate: '2026-03-01',
      rows: [
        {
          ...meteredService.rateCards[0]?.rows[0],
          priceMethod: 'TIERED',
          rateCardTiers: [
            { tierNum: 1, tierMinVal: 0, tierMaxVal: 1500, tierUnitRate: 0, flatRate: false },
            { tierNum: 2, tierMinVal: 1500, tierUnitRate: 0.1, flatRate: false },
          ],
        },
      ],
    };
    await tenant
      .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, card)
      .expect(201);
    const dry = await run({ dryRun: true });
    // 1,200 are free; of the 800, 500 x 0.10.
    const figures = {
      events: 2,
      changed: 2,
      rejected: [],
      before: [{ currency: 'USD', amount: 20 }],
      after: [{ currency: 'USD', amount: 50 }],
    };
    expect(dry).to.deep.include({ ...figures, correctionId: null, dryRun: true });
    expect(await amountOf(a)).to.deep.equal([4]);
    const done = await run();
    expect(done).to.deep.include({ ...figures, dryRun: false });
    expect(await Promise.all([a, b].map(amountOf))).to.deep.equal([[0], [50]]);
    expect(await run()).to.deep.include({ events: 2, changed: 0 });
    const [, second] = await charges(done.correctionId, 'explain=true');
    expect(second).to.include({ before: 16, after: 50, difference: 34 });
    expect(second.firstDifference.step).to.equal('card');
  });

  // spec/beyond.md R212, R213
  it('leave what was known before them to be asked for', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Calls');
    const instant = async (): Promise<string> => {
      await wait(5);
      const at = new Date().toISOString();
      await wait(5);
      return at;
    };
    const before = await instant();
    const sent = calls(serviceId, '100', '50');
    const [a = '', b = ''] = await story.send(...sent);
    const first = await instant();
    const day = { eventTimestamp: '2026-03-20T12:00:00Z', billingAccountRef: 'globex' };
    await correct(a, 'amend', { message: { ...sent[0], ...day } });
    const second = await instant();
    await correct(b, 'cancel');
    const known = async (at: string, query = ''): Promise<object[]> =>
      totals(`knownOn=${at}${query}`);
    const row = (events: number, quantity: number, amount: number) => [
      { bucket: null, group: {}, currency: 'USD', events, quantity, amount },
    ];
    expect(await known(before)).to.deep.equal([]);
    expect(await known(first)).to.deep.equal(row(2, 150, 1.5));
    expect(await known(first, '&to=2026-03-16')).to.deep.equal(row(2, 150, 1.5));
    expect(await known(second, '&to=2026-03-16')).to.deep.equal(row(1, 50, 0.5));
    expect(await known(second)).to.deep.equal(row(2, 150, 1.5));
    expect(await known(await instant())).to.deep.equal(row(1, 100, 1));
    expect(await totals()).to.deep.equal(row(1, 100, 1));
    const read = async (id: string, at: string) =>
      (await tenant.get(`/v1/usage-events/${id}?knownOn=${at}`)).body;
    expect(await read(b, first)).to.include({ status: 'rated' });
    expect((await read(b, first)).ratedTransactions[0]).to.include({ amount: 0.5, matches: true });
    expect(await read(a, first)).to.include({ billingAccountRef: 'acme' });
    expect((await read(a, first)).message).to.deep.equal(sent[0]);
    expect(await read(a, second)).to.include({ billingAccountRef: 'globex' });
    expect(await read(b, await instant())).to.include({ status: 'canceled' });
    await tenant.get(`/v1/usage-events/${a}?knownOn=${before}`).expect(404);
    await tenant.get(`/v1/usage-events/${a}?knownOn=yesterday`).expect(400);
  });
});
