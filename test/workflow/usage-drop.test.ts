import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { verifyArchive } from '../../src/commands/ageing/archive-usage.js';
import { listArchiveMonths } from '../../src/models/ageing/usage-archive.js';
import { ArchiveWorld, archivedMonth as month } from '../support/archive.js';
import { rebuildProjections } from '../../src/commands/usage/project-usage.js';
import {
  createAccount,
  createService,
  send,
  waitUntilRated,
  usage,
} from '../support/billing/usage.js';
import { external, type TestTenant } from '../support/servers/instance.js';

/** spec/beyond.md R115 to R119. */
describe('dropping archived usage', function () {
  this.timeout(120_000);
  let world: ArchiveWorld;
  before(async () => {
    world = await ArchiveWorld.open();
  });
  after(() => world.close());

  const monthOf = async ({ id, scope }: TestTenant) =>
    (await listArchiveMonths(scope.db.read, id))[0];
  const verify = ({ id: tenantId, scope }: TestTenant) =>
    verifyArchive(scope, world.files, { tenantId, month });
  const ready = async (events: number): Promise<TestTenant> => {
    const tenant = await world.filled(events);
    await world.billed(tenant);
    await world.archive(tenant);
    return tenant;
  };

  it('drops a month of some tenants, keeps the rows of others, and brings them back', async () => {
    const [one, two, other] = [await ready(1_000), await ready(300), await world.filled(500)];
    const before = await Promise.all([one, two, other].map((each) => world.factsOf(each)));
    const { compared, kept, freedBytes } = await world.drop(one, two);
    // 1,000 less 8 that are rejected, and 1,000 charges; 300 and 300, of which no offset is 99.
    expect(compared).to.equal(1_992 + 600);
    // 500 and 500 of the other one, and what is rejected; other tests' tenants come on top.
    expect(kept).to.be.at.least(1_008);
    expect(freedBytes).to.be.greaterThan(100_000);
    const left = await world.factsOf(one);
    expect(left).to.have.length(8);
    expect(left.every((row) => row.includes(',rejected,'))).to.equal(true);
    expect(await world.factsOf(two)).to.deep.equal([]);
    expect(await world.factsOf(other)).to.deep.equal(before[2]);
    expect(await monthOf(one)).to.deep.include({ state: 'complete', isDropped: true });
    expect(await verify(one)).to.equal(null);

    expect(await world.refused(world.drop(one))).to.match(/is dropped already/);
    expect(await world.refused(world.archive(one))).to.match(/is in the archive alone/);
    expect(await world.restore(one)).to.equal(1_992);
    expect(await world.restore(two)).to.equal(600);
    expect(await world.factsOf(one)).to.deep.equal(before[0]);
    expect(await world.factsOf(two)).to.deep.equal(before[1]);
    expect(await monthOf(one)).to.deep.include({ state: 'complete', isDropped: false });
    expect(await world.refused(world.restore(one))).to.match(/is not dropped/);
    // What is counted behind the facts has not counted them again.
    const [waiting] = await world.sql<{ rows: string }>(
      `select (select count(*) from unbilled_usage where tenant_id = $1)
         + (select count(*) from usage_unlisted where tenant_id = $1) as rows`,
      [one.id],
    );
    expect(waiting?.rows).to.equal('0');
    await world.drop(one);
    expect(await world.factsOf(one)).to.have.length(8);
  });

  it('refuses what is needed, and says what needs it', async () => {
    const tenant = await world.filled(200);
    const refused = () => world.refused(world.drop(tenant));
    expect(await refused()).to.match(/is not archived/);
    await world.archive(tenant);
    expect(await refused()).to.match(/is not billed, such as that of the account 0/);
    await world.billed(tenant);
    const { id } = tenant;
    const queue = [id];
    const now = new Date().toISOString();
    await world.sql(
      `insert into usage_archive_month (tenant_id, month, state, updated_at)
       values ($1, date_trunc('month', $2::date), 'complete', now())`,
      [id, now],
    );
    expect(await world.refused(world.dropMonth(now.slice(0, 7), tenant))).to.match(/is not over/);
    await world.sql(
      `insert into unbilled_usage (tenant_id, account_id, transaction_date, transaction_id)
       select tenant_id, account_id, transaction_date, id from rated_transaction
       where tenant_id = $1 limit 1`,
      queue,
    );
    expect(await refused()).to.match(/is not billed/);
    await world.sql('delete from unbilled_usage where tenant_id = $1', queue);
    await world.sql(
      `insert into usage_counter (tenant_id, id, owner_type, owner_id, service_id, attribute_name,
         period, period_start, period_end, value)
       values ($1, gen_random_uuid(), 'account', gen_random_uuid(), gen_random_uuid(), 'calls',
         'Yearly', '2026-01-01', '2999-01-01', 1)`,
      queue,
    );
    expect(await refused()).to.match(/runs until 2999-01-01/);
    await world.sql('delete from usage_counter where tenant_id = $1', queue);
    await world.sql(
      `insert into legal_hold (tenant_id, reason, placed_by, placed_at)
       values ($1, 'a dispute', 'x', now())`,
      queue,
    );
    expect(await refused()).to.match(/under a legal hold/);
    await world.sql('delete from legal_hold where tenant_id = $1', queue);
    // Placed when all was looked at: the last step sees it.
    world.before.set('finishUsageDrop', () =>
      world.sql(
        `insert into legal_hold (tenant_id, reason, placed_by, placed_at)
         values ($1, 'a dispute', 'x', now())`,
        queue,
      ),
    );
    expect(await refused()).to.match(/under a legal hold/);
    await world.sql('delete from legal_hold where tenant_id = $1', queue);
    expect(await world.factsOf(tenant)).to.have.length(400);
    await world.drop(tenant);
    expect(await world.factsOf(tenant)).to.deep.equal([]);
  });

  it('notices an archive that was changed by hand, and drops nothing', async () => {
    const tenant = await ready(200);
    const before = await world.factsOf(tenant);
    const [charges = '', events = ''] = await world.filesIn(tenant);
    const bytes = await readFile(events);
    const changed = Buffer.from(bytes);
    changed[200] = (changed[200] ?? 0) ^ 1;
    for (const [change, fault] of [
      [() => writeFile(events, changed), /differs: .*(cannot be read|was changed)/],
      [async () => writeFile(events, await readFile(charges)), /differs: /],
      [() => rm(events), /there is no file/],
    ] as const) {
      await change();
      expect(await world.refused(world.drop(tenant))).to.match(fault);
      expect(await monthOf(tenant)).to.deep.include({ state: 'differs', isDropped: false });
      expect(await world.factsOf(tenant)).to.deep.equal(before);
      expect(await world.refused(world.drop(tenant))).to.match(/is 'differs'/);
      await world.archive(tenant);
    }
    await world.drop(tenant);
    // Changed after the drop: it is not restored as something else.
    await writeFile(events, changed);
    expect(await verify(tenant)).to.not.equal(null);
    expect(await world.refused(world.restore(tenant))).to.match(/was changed|cannot be read/);
    await writeFile(events, bytes);
    await world.restore(tenant);
    expect(await world.factsOf(tenant)).to.deep.equal(before);
  });

  it('begins again where rows are written while it compares', async () => {
    const tenant = await ready(200);
    const change = (amount: string) =>
      world.sql(
        `update rated_transaction set amount = ${amount} where tenant_id = $1
           and id = (select id from rated_transaction where tenant_id = $1 order by id limit 1)`,
        [tenant.id],
      );
    world.before.set('finishUsageDrop', () => change('1.26'));
    expect(await world.refused(world.drop(tenant))).to.match(/row 1 differs/);
    expect(await world.factsOf(tenant)).to.have.length(400);
    await world.archive(tenant);
    // Written, and as it was: nothing is lost, and it ends.
    world.before.set('finishUsageDrop', () => change('1.26'));
    expect((await world.drop(tenant)).compared).to.equal(400);
    expect(await world.factsOf(tenant)).to.deep.equal([]);
  });

  for (const step of ['beginUsageDrop', 'compareArchivedUsage', 'finishUsageDrop']) {
    it(`is dropped once when a worker is killed after ${step}`, async () => {
      const tenant = await ready(200);
      const before = await world.factsOf(tenant);
      world.killed.add(step);
      expect((await world.drop(tenant)).compared).to.equal(400);
      expect(world.killed.size).to.equal(0);
      expect(await world.factsOf(tenant)).to.deep.equal([]);
      world.killed.add('restoreUsageRows');
      world.killed.add('endUsageRestore');
      expect(await world.restore(tenant).catch(() => 400)).to.equal(400);
      expect(await world.factsOf(tenant)).to.deep.equal(before);
      expect(await monthOf(tenant)).to.deep.include({ state: 'complete', isDropped: false });
    });
  }

  const needsRestore = /received in 2026-10 is in the archive.*archive restore/;
  /** Asks a process that knows no archive. */
  const withoutArchive = async (ask: () => Promise<unknown>): Promise<void> => {
    const { archive } = world.instance.platform;
    Object.assign(world.instance.platform, { archive: undefined });
    try {
      await ask();
    } finally {
      Object.assign(world.instance.platform, { archive });
    }
  };

  /** A tenant with events of October that were rated as any: an account, a service, four events. */
  const rated = async (bill = (tenant: TestTenant) => world.billed(tenant)) => {
    const tenant = await world.instance.tenant();
    const account = await createAccount(tenant, 'acme');
    const service = await createService(tenant, 'Calls');
    const at = { eventTimestamp: '2026-10-20T12:30:00Z' };
    const messages = Array.from({ length: 4 }, () => usage('acme', service, at));
    const ids = await send(tenant, ...messages);
    await waitUntilRated(tenant);
    await world.shiftToOctober(tenant);
    await bill(tenant);
    await world.archive(tenant);
    return { tenant, account, service, messages, ids };
  };

  it('answers about a dropped month what it answered before', async () => {
    const { tenant, account, service, messages, ids } = await rated();
    const [sent = ''] = ids;
    const paths = async (): Promise<string[]> => {
      const { body } = await tenant.get(`/v1/usage-events/${sent}`).expect(200);
      const charge = body.ratedTransactions[0].id as string;
      return [
        ...ids.map((id) => `/v1/usage-events/${id}`),
        `/v1/usage-events/${body.id as string}`,
        `${external}/rated-transactions/${charge}`,
        `/v1/usage-events?accountId=${account}`,
        `/v1/usage-events?serviceId=${service}&limit=2&offset=1`,
        `/v1/usage-events?externalTransactionId=${sent}`,
        '/v1/usage-events/summary',
        '/v1/usage?groupBy=account,service&from=2026-10-01&to=2026-11-01',
        '/v1/usage?groupBy=attribute&bucket=day',
      ];
    };
    const asked = await paths();
    const answers = () =>
      Promise.all(asked.map(async (path) => [path, (await tenant.get(path).expect(200)).body]));
    const before = await answers();
    expect(JSON.stringify(before)).to.match(/"matches":true/);
    const october = { from: '2026-10-01', to: '2026-11-01' };
    const reprice = (range: object) =>
      tenant.post('/v1/workflows/reprice/execute', {
        data: { name: 'Tried', ...range, changes: [] },
      });
    const tried = (await reprice(october).expect(200)).body.output.repricingId as string;
    const triedCharges = `/v1/repricings/${tried}/accounts/${account}/charges`;
    expect((await tenant.get(triedCharges).expect(200)).body.data).to.have.length(4);
    // Dropped while a what-if runs: it may have read a part, so it comes to nothing.
    world.before.set('endRepricing', () => world.drop(tenant));
    const cut = await reprice(october).expect(200);
    expect(cut.body).to.deep.include({ status: 'failed', output: null });
    expect(cut.body.error.message).to.match(needsRestore);
    expect(await world.factsOf(tenant)).to.deep.equal([]);
    expect(await answers()).to.deep.equal(before);
    // An answer leaves nothing behind, and takes nothing.
    expect(await world.factsOf(tenant)).to.deep.equal([]);

    // The same event again is a duplicate; with other content it is a conflict.
    const [first] = messages;
    await send(tenant, { ...first }, { ...first, dimensions: { api_calls: '101' } });
    const { rated: ratedCount, duplicate, rejected } = await waitUntilRated(tenant, 6);
    expect({ ratedCount, duplicate, rejected }).to.deep.equal({
      ratedCount: 4,
      duplicate: 1,
      rejected: 1,
    });
    const repeated = await tenant.get(`/v1/usage-events/${sent}`).expect(200);
    expect(repeated.body).to.deep.equal(before[0]?.[1]);

    const needed = [
      tenant.get('/v1/usage-events?limit=100'),
      tenant.get(`/v1/usage-events?accountId=${account}&from=2026-10-01`),
      tenant.get(`${external}/rated-transactions`),
      tenant.get('/v1/usage?from=2026-10-20T12:10:00Z&to=2026-10-20T12:50:00Z'),
      tenant.get('/v1/exports/usage-events?format=ndjson&from=2026-10-01&to=2026-11-01'),
      tenant.get('/v1/exports/rated-transactions?format=csv'),
      tenant.post('/v1/usage-events/outcomes', {
        ranges: Array.from({ length: 8 }, (_each, partition) => ({ partition, from: 0, to: 9 })),
      }),
      tenant.post(`/v1/usage-events/${sent}/cancel`, { reason: 'sent twice' }),
      tenant.post(`/v1/usage-events/${sent}/amend`, { reason: 'unit', message: first }),
      tenant.post('/v1/repricings/preview', { accountId: account, ...october, changes: [] }),
      reprice(october),
      tenant.get(triedCharges),
      tenant.get(`${triedCharges}?explain=false`),
    ];
    for (const answer of await Promise.all(needed)) {
      expect(answer.status, answer.text).to.equal(409);
      expect(answer.text).to.match(needsRestore);
    }
    // A process that knows no archive says so, too.
    await withoutArchive(async () => {
      for (const path of [asked[0], asked[5]]) await tenant.get(path ?? '').expect(409);
    });
    // What does not reach into it is answered.
    await tenant.get('/v1/usage-events?limit=2').expect(200);
    await tenant.get('/v1/exports/usage-events?format=ndjson&from=2026-11-10').expect(200);
    const later = { from: '2026-11-10', to: '2026-12-01' };
    const preview = { accountId: account, ...later, changes: [] };
    await tenant.post('/v1/repricings/preview', preview).expect(200);
    await reprice(later).expect(200);
    expect(
      await world.refused(rebuildProjections({ tenantId: tenant.id, db: tenant.scope.db })),
    ).to.match(/archive restore/);

    await world.restore(tenant);
    const { body } = await tenant
      .post(`/v1/usage-events/${sent}/cancel`, { reason: 'sent twice' })
      .expect(200);
    const corrected = `/v1/corrections/${body.correctionId as string}/charges`;
    const charges = (await tenant.get(corrected).expect(200)).body as object;
    await world.sql('delete from unbilled_usage where tenant_id = $1', [tenant.id]);
    await world.archive(tenant);
    await world.drop(tenant);
    expect((await tenant.get(corrected).expect(200)).body).to.deep.equal(charges);
    await tenant.get('/v1/exports/corrections?format=ndjson').expect(409);
    await withoutArchive(async () => {
      expect((await tenant.get(corrected).expect(409)).text).to.match(needsRestore);
    });
  });

  it('explains an invoice of a dropped month as before, and is 409 where no archive is known', async () => {
    let path = '';
    const { tenant } = await rated(async (of) => {
      const data = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };
      const { body } = await of.post('/v1/workflows/billing-run/execute', { data }).expect(200);
      path = `/v1/invoices/${body.output.invoiceIds[0] as string}/explain`;
    });
    const explain = async () => (await tenant.get(path).expect(200)).body as object;
    const before = await explain();
    expect(JSON.stringify(before)).to.match(/"transactions":\[\{/);
    await world.drop(tenant);
    expect(await world.factsOf(tenant)).to.deep.equal([]);
    expect(await explain()).to.deep.equal(before);
    await withoutArchive(async () => {
      const { body } = await tenant.get(path).expect(409);
      expect(body.error.message).to.match(needsRestore);
      expect(body.error.details).to.deep.equal({ reason: 'USAGE_ARCHIVED', months: ['2026-10'] });
    });
  });
});
