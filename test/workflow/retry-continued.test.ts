import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { createAccount, createService, usage, waitUntilRated } from '../support/billing/usage.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';

/** A page, and one event of a second. */
const count = 501;
/** Temporal suggests another history beyond 4 MB: three failures of this length are more. */
const words = 'x'.repeat(1_800_000);

describe('a retry of usage that goes on in another history', function () {
  this.timeout(120_000);
  let instance: TestInstance;
  /** Those that have done a page, each in a history of its own; none does a second one. */
  const runIds = new Set<string | undefined>();
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      flowTimeoutMs: 100_000,
      activityInterceptors: [
        (context) => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              const { activityType, workflowExecution: run } = context.info;
              if (activityType === 'retryUsagePage') {
                if (runIds.has(run?.runId)) {
                  throw ApplicationFailure.create({ message: 'It is away.', details: [words] });
                }
                runIds.add(run?.runId);
              }
              return next(input);
            },
          },
        }),
      ],
    });
  });
  after(() => instance.close());

  // spec/beyond.md R520
  it('is one execution, which runs until its last page and counts all of them', async () => {
    const tenant = await instance.tenant();
    const serviceId = await createService(tenant, 'Calls');
    const messages = Array.from({ length: count }, () => ({ message: usage('later', serviceId) }));
    await tenant.post('/v1/ingest/usage/batch', messages.slice(0, 500)).expect(200);
    await tenant.post('/v1/ingest/usage/batch', messages.slice(500)).expect(200);
    await waitUntilRated(tenant, count);
    await createAccount(tenant, 'later');
    const { body } = await tenant.post('/v1/usage-events/retry', {}).expect(200);
    const sums = { retried: count, rated: count, rejected: 0 };
    expect(body).to.deep.include(sums);
    const executions = '/v1/workflows/retry-usage/executions';
    const { body: listed } = await tenant.get(executions).expect(200);
    expect(listed.data).to.have.length(1);
    expect(listed.data[0]).to.deep.include({
      executionId: body.executionId,
      status: 'completed',
      output: sums,
    });
    expect([...runIds])
      .to.have.length(2)
      .and.include(body.executionId);
  });
});
