import { expect } from 'chai';
import type { TestTenant } from '../support/servers/instance.js';
import { external } from '../support/servers/instance.js';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { testServers } from '../support/servers/servers.js';
import { meteredService, usage } from '../support/billing/usage.js';
import { priceOfEach, usdCard } from '../support/story/prices.js';
import { Story, useStory } from '../support/story/story.js';

// spec/beyond.md R249 to R251
describe('durabill tenant copy', function () {
  // Each command is a process of its own.
  this.timeout(120_000);
  const story = useStory();
  const { instance, tenant } = story;
  let temporal: Awaited<ReturnType<typeof testServers>>['temporal'];
  let copy: TestTenant;
  let target: string;

  const durabill = (...options: string[]) =>
    runDurabill(
      {
        ...settingsOf(instance),
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
      },
      ...options,
    );
  const on = (day: string, calls: string) => ({
    eventTimestamp: `${day}T12:00:00Z`,
    dimensions: { api_calls: calls },
  });
  const idOf = async (of: TestTenant, externalId: string) =>
    (await of.get(`${external}/accounts/by-external-id/${externalId}`).expect(200)).body.data
      .Id as string;
  const totals = async (of: TestTenant) => {
    const { body } = await of.get('/v1/usage?bucket=month&groupBy=usageType').expect(200);
    return body.data as Record<string, unknown>[];
  };
  const eventOf = async (of: TestTenant, id: string) =>
    (await of.get(`/v1/usage-events/${id}`).expect(200)).body;
  const short = (event: {
    status: string;
    code: string;
    ratedTransactions: { amount: number }[];
  }) => [event.status, event.code, ...event.ratedTransactions.map(({ amount }) => amount)] as const;
  let sent: string[] = [];

  before(async () => {
    ({ temporal } = await testServers());
    target = `${tenant.id}-copy`;
    await story.account('acme', { name: 'Acme' });
    await story.account('globex', { name: 'Globex' });
    const calls = await story.service('Calls', meteredService);
    const plain = await story.service('Plain');
    const listed = await story.service('Listed');
    const users = await story.service('Users', {
      ...meteredService,
      priceableAttributes: [
        {
          ...meteredService.priceableAttributes[0],
          aggregation: 'UNIQUE',
          uniqueDimension: 'user',
        },
      ],
      rateCards: [usdCard(priceOfEach('api_calls', 2))],
    });
    const card = usdCard(priceOfEach('api_calls', 0.5, { label: 'Special' }));
    await story.subscribe('globex', [{ serviceId: plain, rateCards: [card] }], {
      name: 'C',
      number: 'C-1',
      startDate: '2026-01-01',
    });
    const shared = await story.service('Shared');
    await story.subscribe('acme', [{ serviceId: shared, accountMap: { acme: 1, globex: 3 } }], {
      number: 'C-2',
      startDate: '2026-01-01',
    });
    sent = await story.send(
      usage('acme', calls, on('2026-02-10', '3000')),
      usage('acme', calls, on('2026-03-02', '900')),
      usage('acme', calls, on('2026-03-03', '200')),
      usage('globex', plain, on('2026-03-04', '10')),
      usage('acme', listed, on('2026-03-04', '10')),
      usage('nobody', calls, on('2026-03-05', '1')),
      ...['ana', 'ben', 'ana'].map((user) => usage('globex', users, { dimensions: { user } })),
    );
    // A price that holds since March changes no charge that was made.
    const dearer = { ...usdCard(priceOfEach('api_calls', 9)), fromDate: '2026-03-01' };
    await tenant.post(`${external}/services/${listed}/rate-cards/USD/versions`, dearer).expect(201);
    const { code, output, errors } = await durabill(
      'tenant',
      'copy',
      tenant.id,
      target,
      '--sandbox',
    );
    expect(code, errors).to.equal(0);
    expect(output).to.equal(
      `copied ${tenant.id} to the sandbox ${target}: 9 usage events, 8 charges\n`,
    );
    copy = await instance.tenant(['ADMIN'], target);
  });

  it('keeps external ids, and not ids', async () => {
    for (const externalId of ['acme', 'globex']) {
      expect(await idOf(copy, externalId)).to.not.equal(await idOf(tenant, externalId));
    }
    await copy.get(`${external}/accounts/${await idOf(tenant, 'acme')}`).expect(404);
    const { body } = await copy.get(`${external}/contracts/C-1`).expect(200);
    expect(body.services).to.have.length(1);
    expect((await copy.get('/v1/clock').expect(200)).body.sandbox).to.equal(true);
  });

  it('keeps charges as they were made, with what explains them', async () => {
    expect(await totals(copy)).to.deep.equal(await totals(tenant));
    for (const id of sent) {
      const [was, is] = [await eventOf(tenant, id), await eventOf(copy, id)];
      expect(short(is), id).to.deep.equal(short(was));
    }
    // 1,100 in March: 900 are free, and of the next 200 there are 100 at 0.02.
    const third = await eventOf(copy, sent[2] ?? '');
    expect(third.ratedTransactions[0].amount).to.equal(2);
    const { body } = await copy.get('/v1/usage-events/summary').expect(200);
    expect(body).to.include({ accepted: 9, rated: 8, rejected: 1, duplicate: 0, pending: 0 });
  });

  it('goes on where the counters stood, and the original knows nothing of it', async () => {
    const { body: service } = await copy.get(`${external}/services?q=Calls`).expect(200);
    const serviceId = service.data.content[0].Id as string;
    const before = await totals(tenant);
    const audit = await copy
      .post('/v1/workflows/audit-usage/execute', {
        data: { periodStart: '2026-02-01', periodEnd: '2026-03-31' },
      })
      .expect(200);
    expect(audit.body.output, JSON.stringify(audit.body)).to.include({ differenceCount: 0 });
    await new Story(instance, copy, { now: undefined }).send(
      usage('acme', serviceId, { externalTransactionId: 'new', ...on('2026-02-11', '10000') }),
    );
    // February's card: from 3,000 to 13,000, 7,000 at 0.02 and 3,000 at 0.01.
    expect(short(await eventOf(copy, 'new'))).to.deep.equal(['rated', null, 170]);
    const { body: portal } = await copy.get(`${external}/services?q=Users`).expect(200);
    const users = portal.data.content[0].Id as string;
    const by = (user: string) =>
      usage('globex', users, { externalTransactionId: `new-${user}`, dimensions: { user } });
    await new Story(instance, copy, { now: undefined }).send(by('ben'), by('cleo'));
    // ben is counted already; cleo is the third, at 2.00.
    expect(short(await eventOf(copy, 'new-ben'))).to.deep.equal(['rated', null, 0]);
    expect(short(await eventOf(copy, 'new-cleo'))).to.deep.equal(['rated', null, 2]);
    expect(await totals(tenant)).to.deep.equal(before);
    await tenant.get('/v1/usage-events/new').expect(404);
  });

  it('shares its lines between accounts of its own', async () => {
    const { body: service } = await copy.get(`${external}/services?q=Shared`).expect(200);
    const serviceId = service.data.content[0].Id as string;
    await new Story(instance, copy, { now: undefined }).send(
      usage('acme', serviceId, { externalTransactionId: 'shared', ...on('2026-03-06', '100') }),
    );
    // 100 at 0.01, a quarter and three quarters.
    const charges: { accountId: string; amount: number }[] = (await eventOf(copy, 'shared'))
      .ratedTransactions;
    expect(charges.map(({ accountId, amount }) => [accountId, amount])).to.have.deep.members([
      [await idOf(copy, 'acme'), 0.25],
      [await idOf(copy, 'globex'), 0.75],
    ]);
  });

  it('begins usage with a meter period', async () => {
    const other = `${tenant.id}-part`;
    const from = (day: string) =>
      durabill('tenant', 'copy', tenant.id, other, '--sandbox', '--usage-from', day);
    const refused = await from('2026-03-15');
    expect(refused.code).to.equal(1);
    expect(refused.errors).to.include("within the Monthly meter period of 'api_calls'");
    const { code, output, errors } = await from('2026-03-01');
    expect(code, errors).to.equal(0);
    expect(output).to.include(': 8 usage events, 7 charges\n');
    const part = await instance.tenant(['ADMIN'], other);
    expect(short(await eventOf(part, sent[2] ?? ''))).to.deep.equal(['rated', null, 2]);
    await part.get(`/v1/usage-events/${sent[0]}`).expect(404);
  });

  it('makes a new sandbox, or nothing', async () => {
    for (const options of [
      [tenant.id, `${tenant.id}-x`],
      [tenant.id, target, '--sandbox'],
      ['nobody', `${tenant.id}-x`, '--sandbox'],
    ]) {
      expect((await durabill('tenant', 'copy', ...options)).code, options.join(' ')).to.equal(1);
    }
    const made = await durabill('tenant', 'create', `${tenant.id}-empty`, '--sandbox');
    expect(made.code, made.errors).to.equal(0);
    // What is copied of a sandbox has happened by its time.
    const empty = await instance.tenant(['ADMIN'], `${tenant.id}-empty`);
    const now = '2031-03-01T00:00:00.000Z';
    await empty.post('/v1/clock', { now }).expect(200);
    const again = await durabill('tenant', 'copy', empty.id, `${empty.id}-copy`, '--sandbox');
    expect(again.code, again.errors).to.equal(0);
    const late = await instance.tenant(['ADMIN'], `${empty.id}-copy`);
    expect((await late.get('/v1/clock').expect(200)).body).to.include({ sandbox: true, now });
    const listed = await durabill('tenant', 'list');
    expect(listed.output).to.match(new RegExp(`${tenant.id}-empty\\t.*sandbox 20`));
  });

  it('is deleted at once, and a tenant that is no sandbox is not', async () => {
    const kept = await durabill('tenant', 'delete', tenant.id);
    expect([kept.code, kept.errors]).to.include(1);
    const { code, output, errors } = await durabill('tenant', 'delete', target);
    expect([code, output], errors).to.deep.equal([0, `deleted ${target}\n`]);
    expect((await tenant.get('/v1/clock').expect(200)).body.sandbox).to.equal(false);
  });

  it('knows nothing of an earlier copy of its name', async () => {
    const name = `${tenant.id}-again`;
    /** Copies the tenant, changes a price of the copy or of the tenant, and uses the service there. */
    const used = async (id: string, change: (copied: TestTenant) => Promise<unknown>) => {
      const made = await durabill('tenant', 'copy', tenant.id, name, '--sandbox');
      expect(made.code, made.errors).to.equal(0);
      const copied = await instance.tenant(['ADMIN'], name);
      await change(copied);
      const { body } = await copied.get(`${external}/services?q=Plain`).expect(200);
      const message = usage('acme', body.data.content[0].Id as string, {
        externalTransactionId: id,
        ...on(new Date().toISOString().slice(0, 10), '10'),
      });
      await new Story(instance, copied, { now: undefined }).send(message);
      return (await eventOf(copied, id)).ratedTransactions[0].amount as number;
    };
    const changePrice = async (of: TestTenant, unitRate: number) => {
      const { body } = await of.get(`${external}/services?q=Plain`).expect(200);
      const path = `${external}/services/${body.data.content[0].Id as string}/rate-cards/USD`;
      await of.put(path, usdCard(priceOfEach('api_calls', unitRate))).expect(200);
    };
    // As many changes on both sides: what is remembered of records goes by how often they were changed.
    expect(await used('first', (copied) => changePrice(copied, 3))).to.equal(30);
    expect((await durabill('tenant', 'delete', name)).code).to.equal(0);
    await changePrice(tenant, 4);
    expect(await used('second', () => Promise.resolve())).to.equal(40);
  });
});
