import { expect } from 'chai';
import type { UsageRange, UsageRangeResult } from '../../src/messages/usage-workflow.js';
import { openPlatform, type Platform } from '../../src/process/platform.js';
import { startWorkers, type RunningWorkers } from '../../src/worker/main.js';
import { tellFigures } from '../start/outcome.js';
import { afterEachActivity } from '../support/servers/activities.js';
import { cableToDatabase, layCable } from '../support/servers/cable.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { testServers } from '../support/servers/servers.js';
import {
  createAccount,
  createService,
  meteredService,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const accounts = ['a', 'b', 'c', 'd', 'e'];

/** Sends events of several accounts, each once or more; answers with what has to come of them. */
async function stream(tenant: TestTenant, serviceId: string, rounds: number) {
  for (let round = 0; round < rounds; round += 1) {
    const messages = accounts.flatMap((account) =>
      Array.from({ length: 12 }, (_each, index) =>
        usage(account, serviceId, {
          // The last two of the twelve repeat the first two.
          externalTransactionId: `${account}-${round}-${index % 10}`,
          dimensions: { api_calls: '100' },
        }),
      ),
    );
    await tenant
      .post(
        '/v1/ingest/usage/batch',
        messages.map((message) => ({ message })),
      )
      .expect(200);
  }
  const each = rounds * accounts.length;
  return { accepted: 12 * each, rated: 10 * each, duplicate: 2 * each, rejected: 0, pending: 0 };
}

async function partitionsOf(tenant: TestTenant): Promise<number[]> {
  await waitUntilRated(tenant);
  const { body } = await tenant.get('/v1/usage-events/summary').expect(200);
  return body.partitions.map(({ partition }: { partition: number }) => partition);
}

/** Every account used 1,000 a round, in steps of 100: 1,000 free, 9,000 at 0.02, then 0.01. */
const costOf = (rounds: number): number =>
  Math.min(rounds - 1, 9) * 1000 * 0.02 + Math.max(rounds - 10, 0) * 1000 * 0.01;

async function check(tenant: TestTenant, rounds: number, expected: object): Promise<void> {
  const counts = await waitUntilRated(tenant);
  expect(counts).to.deep.equal(expected);
  const { rows } = await tenant.scope.db.read.raw<{ rows: Record<string, string>[] }>(
    `select account.external_id as account, count(*) as charges,
       count(distinct external_tran_id) as events, sum(amount) as amount,
       (select sum(value) from usage_counter where owner_id = account.id) as counter
     from rated_transaction join account on account.id = account_id
     where rated_transaction.tenant_id = ? group by account.id, external_id order by 1`,
    [tenant.id],
  );
  expect(rows.map((row) => ({ ...row, amount: Number(row['amount']) }))).to.deep.equal(
    accounts.map((account) => ({
      account,
      charges: String(10 * rounds),
      events: String(10 * rounds),
      amount: costOf(rounds),
      counter: String(1000 * rounds),
    })),
  );
  const { body } = await tenant.get(`${external}/rated-transactions`).expect(200);
  expect(body.data.totalElements).to.equal(10 * rounds * accounts.length);
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const { accepted, rated, duplicate } = counts;
  tellFigures({
    accepted,
    rated,
    duplicate,
    doubled: sum('charges') - sum('events'),
    lost: accepted - duplicate - sum('events'),
  });
}

describe('rating of usage, when things fail', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let serviceId: string;
  const closers: (() => Promise<void>)[] = [];

  const open = async (options: Parameters<typeof openTestInstance>[0] = {}): Promise<void> => {
    instance = await openTestInstance(options);
    closers.push(() => instance.close());
    tenant = await instance.tenant();
    for (const account of accounts) await createAccount(tenant, account);
    serviceId = await createService(tenant, 'Metered', meteredService);
  };
  const start = async (platform: Platform, ...rest: [Parameters<typeof startWorkers>[1]?]) => {
    const workers: RunningWorkers = await startWorkers(platform, ...rest);
    closers.push(() => workers.drain());
  };
  afterEach(async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  });

  for (const failing of [[0], [1], [0, 1, 2], [0, 1, 2, 3, 4, 5, 6]]) {
    // spec/rating.md R34
    it(`gives the same rows when steps ${failing.join(', ')} fail after their commit`, async () => {
      await open();
      const expected = await stream(tenant, serviceId, 4);
      let steps = -1;
      let failures = 0;
      await start(instance.platform, {
        activityInterceptors: afterEachActivity(() => {
          steps += 1;
          if (!failing.includes(steps)) return;
          failures += 1;
          throw new Error('The step failed after its commit.');
        }),
      });
      // What all workflows together tell, however often their steps were repeated, is what happened.
      const results = await Promise.all(
        (await partitionsOf(tenant)).map((partition) =>
          instance.platform.temporal.waiter.workflow
            .getHandle<(range: UsageRange) => Promise<UsageRangeResult>>(
              `${tenant.id}/usage/${partition}/0`,
            )
            .result(),
        ),
      );
      const { rated, duplicate } = expected;
      expect(results.reduce((sum, result) => sum + result.rated, 0)).to.equal(rated);
      expect(results.reduce((sum, result) => sum + result.duplicate, 0)).to.equal(duplicate);
      expect(failures).to.equal(failing.length);
      await check(tenant, 4, expected);
    });
  }

  it('goes on in the middle of a range, after the transactions that were committed', async () => {
    await open();
    const messages = Array.from({ length: 2_500 }, () =>
      usage('a', serviceId, { dimensions: { api_calls: '1' } }),
    );
    for (let first = 0; first < messages.length; first += 1000) {
      const part = messages.slice(first, first + 1000).map((message) => ({ message }));
      await tenant.post('/v1/ingest/usage/batch', part).expect(200);
    }
    const { broker } = instance.platform;
    const read = broker.read.bind(broker);
    let reads = 0;
    broker.read = (...range) => {
      reads += 1;
      return reads % 2 === 0 ? Promise.reject(new Error('The log is away.')) : read(...range);
    };
    await start(instance.platform);
    expect(await waitUntilRated(tenant)).to.deep.include({ rated: 2_500, duplicate: 0 });
    const [partition] = await partitionsOf(tenant);
    // What takes longer than a range may ends as its first part, and the rest is a range of its own.
    let rated = 0;
    for (let next: number | undefined = 0; next !== undefined;) {
      const handle = instance.platform.temporal.waiter.workflow.getHandle<
        (range: UsageRange) => Promise<UsageRangeResult>
      >(`${tenant.id}/usage/${partition ?? ''}/${next}`);
      const result: UsageRangeResult = await handle.result();
      expect(result).to.include({ duplicate: 0, rejected: 0 });
      rated += result.rated;
      next = result.nextOffset;
    }
    expect(rated).to.equal(2_500);
    expect(reads).to.be.greaterThan(3);
    const { rows } = await tenant.scope.db.read.raw<{ rows: { amount: string }[] }>(
      'select sum(amount) as amount from rated_transaction where tenant_id = ?',
      [tenant.id],
    );
    // 1,000 free, 1,500 at 0.02.
    expect(Number(rows[0]?.amount)).to.equal(30);
  });

  it('retries rejected events once, though each step fails after its commit', async () => {
    await open();
    let steps = 0;
    await start(instance.platform, {
      activityInterceptors: [
        () => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              const result: unknown = await next(input);
              steps += 1;
              if (steps % 2 === 1) throw new Error('The step failed after its commit.');
              return result;
            },
          },
        }),
      ],
    });
    const messages = Array.from({ length: 700 }, () => ({ message: usage('late', serviceId) }));
    await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
    expect(await waitUntilRated(tenant, 700)).to.include({ rated: 0, rejected: 700 });
    await createAccount(tenant, 'late');
    const { body } = await tenant.post('/v1/usage-events/retry', {}).expect(200);
    expect(body).to.include({ retried: 700, rated: 700, rejected: 0 });
    expect(await waitUntilRated(tenant)).to.include({ rated: 700, rejected: 0 });
    const { rows } = await tenant.scope.db.read.raw<{
      rows: { charges: string; counter: string }[];
    }>(
      `select count(*) as charges, (select sum(value) from usage_counter where tenant_id = ?) as counter
       from rated_transaction where tenant_id = ?`,
      [tenant.id, tenant.id],
    );
    // 700 events of 100.
    expect(rows[0]).to.deep.equal({ charges: '700', counter: '70000' });
  });

  it('shares the log between two processes', async () => {
    await open();
    const { config } = instance.platform;
    const servers = await testServers();
    const second = await openPlatform(config, {
      databaseUrl: instance.databaseUrl,
      temporal: servers.temporal,
    });
    closers.push(() => second.close());
    await start(instance.platform);
    await start(second);
    const expected = await stream(tenant, serviceId, 30);
    await check(tenant, 30, expected);
    const { rows } = await tenant.scope.db.read.raw<{ rows: { runs: string; events: string }[] }>(
      `select count(*) as runs, sum((output ->> 'rated')::int) as events from execution
       where tenant_id = ? and status = 'completed'`,
      [tenant.id],
    );
    expect(rows[0]?.events).to.equal(String(expected.rated));
  });

  it('waits for a database that is away, and goes on when it is back', async () => {
    const cable = cableToDatabase();
    await open({ route: cable.route });
    const expected = await stream(tenant, serviceId, 12);
    await start(instance.platform);
    for (let round = 0; round < 3; round += 1) {
      await cable.cut();
      await new Promise((resolve) => setTimeout(resolve, 700));
      await cable.mend();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await check(tenant, 12, expected);
  });

  it('can be stopped while the database is away, and another process goes on', async () => {
    const cable = cableToDatabase();
    await open({ route: cable.route });
    const expected = await stream(tenant, serviceId, 2);
    const workers = await startWorkers(instance.platform);
    await cable.cut();
    await workers.drain();
    await cable.mend();
    const { temporal } = await testServers();
    const second = await openPlatform(instance.platform.config, {
      databaseUrl: instance.databaseUrl,
      temporal,
    });
    closers.push(() => second.close());
    await start(second);
    await check(tenant, 2, expected);
  });

  it('waits for a workflow service that is away', async () => {
    await open();
    const { temporal } = await testServers();
    const cable = await layCable(`http://${temporal.address}`);
    const address = new URL(cable.url).host;
    const platform = await openPlatform(instance.platform.config, {
      databaseUrl: instance.databaseUrl,
      temporal: { ...temporal, address },
    });
    closers.push(() => platform.close());
    await start(platform);
    await cable.cut();
    const expected = await stream(tenant, serviceId, 3);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await cable.mend();
    await check(tenant, 3, expected);
  });
});
