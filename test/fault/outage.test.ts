import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { startWorkers } from '../../src/worker/main.js';
import { layCable, type Cable } from '../support/servers/cable.js';
import { external, openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { openPlatform } from '../../src/process/platform.js';
import { testServers } from '../support/servers/servers.js';

/** Two minutes: twice as long as a look of the watch overlaps with the one before it. */
const outageMs = 125_000;

describe('a database that is away while flows time out', function () {
  // Opening an instance, on a machine that others use as well.
  this.timeout(240_000);
  let instance: TestInstance;
  let cable: Cable;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      // Shorter than the outage, and the tenth of it that is for taking back, too: Temporal ends the flows.
      flowLifeMs: 10_000,
      route: async (url) => {
        cable = await layCable(url);
        return cable.url;
      },
      activityInterceptors: [
        () => ({
          inbound: {
            execute: (input, next): Promise<unknown> =>
              Context.current().info.activityType === 'createPayment'
                ? Promise.reject(ApplicationFailure.retryable('No database.', awayFailureType))
                : next(input),
          },
        }),
      ],
    });
  });
  after(() => instance.close());

  const execute = async (references: readonly string[]): Promise<string[]> => {
    const tenant = await instance.tenant();
    await tenant.post(`${external}/accounts`, { name: 'Acme', externalId: 'acme' }).expect(201);
    const paths: string[] = [];
    for (const reference of references) {
      const data = {
        account_id: 'acme',
        amount: 1,
        currency_id: 'USD',
        payment_date: '2026-04-30',
        payment_method: 'Cash',
        payment_reference: reference,
      };
      const { body } = await tenant
        .post('/v1/workflows/payment-save/execute', { data, async: true })
        .expect(200);
      paths.push(`/v1/workflows/payment-save/executions/${String(body.executionId)}`);
    }
    readers.push(async () => {
      const answers = await Promise.all(paths.map((path) => tenant.get(path).expect(200)));
      return answers.map(({ body }) => String(body.status));
    });
    return paths;
  };
  const readers: (() => Promise<string[]>)[] = [];

  it('for two minutes finds all their ends recorded soon after it is back', async () => {
    await execute(['A-1', 'A-2', 'A-3', 'A-4', 'A-5']);
    expect(await readers[0]?.()).to.deep.equal(Array(5).fill('running'));
    await cable.cut();
    await wait(outageMs);
    await cable.mend();
    const back = performance.now();
    let statuses = (await readers[0]?.()) ?? [];
    while (statuses.includes('running') && performance.now() - back < 30_000) {
      await wait(250);
      statuses = (await readers[0]?.()) ?? [];
    }
    expect(statuses).to.deep.equal(Array(5).fill('timed_out'));
  }).timeout(480_000);

  it('and workers that are away, too, leave none: the next ones look from where was looked last', async () => {
    const other = await openTestInstance({ flowLifeMs: 3_000 });
    const tenant = await other.tenant();
    await tenant.post(`${external}/accounts`, { name: 'Acme', externalId: 'acme' }).expect(201);
    // Somebody has looked, long enough ago for the overlap, and nobody since.
    await other.platform.database.platform.raw(
      'insert into execution_watch (task_queue, looked_until) values (?, now())',
      [other.platform.temporal.taskQueue],
    );
    const data = {
      account_id: 'acme',
      amount: 1,
      currency_id: 'USD',
      payment_date: '2026-04-30',
      payment_method: 'Cash',
      payment_reference: 'B-1',
    };
    const { body } = await tenant
      .post('/v1/workflows/payment-save/execute', { data, async: true })
      .expect(200);
    await wait(5_000);
    const { temporal } = await testServers();
    const platform = await openPlatform(other.platform.config, {
      databaseUrl: other.databaseUrl,
      temporal,
    });
    // Less than the five seconds: without the mark of the last look it would be missed.
    const workers = await startWorkers(platform, {
      watch: { overlapMs: 0, backMs: 500, everyMs: 200 },
    });
    const path = `/v1/workflows/payment-save/executions/${String(body.executionId)}`;
    let status = 'running';
    for (let looks = 0; looks < 100 && status === 'running'; looks += 1) {
      await wait(100);
      status = String((await tenant.get(path).expect(200)).body.status);
    }
    expect(status).to.equal('timed_out');
    await workers.drain();
    await platform.close();
    await other.close();
  }).timeout(240_000);
});
