import { setTimeout as wait } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { expect } from 'chai';
import { partitionCount, partitionOf } from '../../src/messages/usage/log-partition.js';
import { listLostUsage } from '../../src/models/usage/lost-usage-range.js';
import { startWorkers, type RunningWorkers } from '../../src/worker/main.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  event,
  send,
  summary,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

/** An account reference for each partition. */
const accounts = Array.from({ length: partitionCount }, (_none, partition) => {
  let number = 0;
  while (partitionOf(`a${number}`) !== partition) number += 1;
  return `a${number}`;
});

async function publish(
  tenant: TestTenant,
  serviceId: string,
  count: number,
  account?: string,
): Promise<void> {
  const messages = Array.from({ length: count }, (_none, index) => ({
    message: usage(account ?? accounts[index % accounts.length] ?? '', serviceId),
  }));
  await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
}

describe('tenants that share the slots of rating', () => {
  let instance: TestInstance;
  let workers: RunningWorkers | undefined;
  beforeEach(async () => {
    instance = await openTestInstance({ kafka: null });
  });
  afterEach(async () => {
    await workers?.drain();
    workers = undefined;
    await instance.close();
  });

  it('are rated at once, beside one whose ranges fail for ever and one at its budget', async () => {
    const [failing, dear, other] = [
      await instance.tenant(),
      await instance.tenant(),
      await instance.tenant(),
    ];
    const serviceOf = async (tenant: TestTenant, more: object = {}): Promise<string> => {
      for (const account of accounts) await createAccount(tenant, account);
      return createService(tenant, 'API', more);
    };
    const failingService = await serviceOf(failing);
    const divisions = `1${'/7'.repeat(800)}`;
    const steps = ['one', 'price'].map((name) => ({ name, formula: divisions }));
    const atBudget = {
      pricingLogic: [
        { name: 'Main', transactionDimension: 'api_calls', priceOutput: 'price', steps },
      ],
    };
    const dearService = await serviceOf(dear, atBudget);
    const service = await serviceOf(other);
    workers = await startWorkers(instance.platform, {
      activityInterceptors: [
        () => ({
          inbound: {
            execute: (input, next): Promise<unknown> =>
              activityInfo().workflowExecution?.workflowId.startsWith(failing.id)
                ? Promise.reject(new Error('This range can never be rated.'))
                : next(input),
          },
        }),
      ],
    });
    /** Milliseconds from sending an event of each account until it is rated: half take no longer. */
    const measure = async (): Promise<number> => {
      const times: number[] = [];
      for (const account of accounts) {
        const startedAt = performance.now();
        const [id = ''] = await send(other, usage(account, service));
        while ((await event(other, id))['status'] !== 'rated') await wait(20);
        times.push(performance.now() - startedAt);
      }
      return times.sort((a, b) => a - b)[times.length / 2] ?? 0;
    };
    await measure();
    const alone = await measure();
    await publish(failing, failingService, 8);
    // They take five times as long as what is measured beside them.
    for (let batch = 0; batch < 10; batch += 1) await publish(dear, dearService, 1_000);
    const beside = await measure();
    expect((await summary(dear)).pending, 'the dear ones are still being rated').to.be.above(0);
    expect((await summary(failing)).pending).to.equal(8);
    // A second, or where the machine is busy with other things, what that makes of it.
    expect(beside, `alone ${alone} ms`).to.be.below(Math.max(1_000, 8 * alone));
  }).timeout(120_000);

  it('go on behind a range that the log has lost, which is recorded', async () => {
    const tenant = await instance.tenant();
    for (const account of accounts) await createAccount(tenant, account);
    const service = await createService(tenant, 'API');
    const [account = ''] = accounts;
    for (const count of [1, 2, 2]) await publish(tenant, service, count, account);
    const partition = partitionOf(account);
    // Offsets 1 and 2 are gone, as if the log had been kept for too short a time.
    await instance.platform.database
      .platform('usageMessage')
      .where({ tenantId: tenant.id, partition, firstOffset: 1 })
      .delete();
    workers = await startWorkers(instance.platform);
    const counts = await waitUntilRated(tenant);
    // Five were accepted, of which the log has three.
    expect(counts).to.deep.equal({ accepted: 3, rated: 3, duplicate: 0, rejected: 0, pending: 0 });
    const lost = await listLostUsage(instance.platform.database.platform, tenant.id);
    expect(lost).to.have.length(1);
    expect(lost[0]).to.include({ tenantId: tenant.id, partition, firstOffset: 1, endOffset: 3 });
    expect(lost[0]?.reason).to.match(/lost/);
    const metrics = await instance.platform.metrics.registry.metrics();
    expect(metrics).to.match(/^durabill_usage_failed_ranges_total 1$/m);
    const [id = ''] = await send(tenant, usage(account, service));
    await waitUntilRated(tenant);
    expect(await event(tenant, id)).to.include({ status: 'rated', offset: 5 });
  }).timeout(120_000);

  it('go on behind a partition of which the log has nothing any more', async () => {
    const tenant = await instance.tenant();
    await createAccount(tenant, 'a');
    const service = await createService(tenant, 'API');
    await publish(tenant, service, 4, 'a');
    const partition = partitionOf('a');
    const { platform } = instance.platform.database;
    await platform('usageMessage').where({ tenantId: tenant.id, partition }).delete();
    workers = await startWorkers(instance.platform);
    await waitUntilRated(tenant);
    const lost = await listLostUsage(platform, undefined);
    expect(lost[0]).to.include({ firstOffset: 0, endOffset: 4 });
    const [id = ''] = await send(tenant, usage('a', service));
    await waitUntilRated(tenant);
    expect(await event(tenant, id)).to.include({ status: 'rated', offset: 4 });
  }).timeout(120_000);
});
