import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { starts } from '../support/billing/flow-starts.js';
import { external } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

const none = { account: '', contract: '', service: '', payment: '', suffix: '' };

describe('a flow whose database does not come back in time', () => {
  const instance = useInstance({
    withWorkers: true,
    flowLifeMs: 8_000,
    flowTimeoutMs: 1_000,
    activityInterceptors: [
      () => ({
        inbound: {
          execute: (input, next): Promise<unknown> =>
            Context.current().info.activityType === 'onboardAccount'
              ? Promise.reject(ApplicationFailure.retryable('No database.', awayFailureType))
              : next(input),
        },
      }),
    ],
  });

  it('is given up, and its execution says so', async () => {
    const tenant = await instance.tenant();
    const data = starts.createAccount(none);
    const path = '/v1/workflows/account-create';
    const { body } = await tenant.post(`${path}/execute`, { data, async: true }).expect(200);
    const execution = `${path}/executions/${String(body.executionId)}`;
    let ended = (await tenant.get(execution).expect(200)).body;
    while (ended.status === 'running') {
      await wait(100);
      ended = (await tenant.get(execution).expect(200)).body;
    }
    expect(ended.status).to.equal('timed_out');
    expect(ended.error.message).to.equal(
      'The work was given up, since what it needs did not answer in time.',
    );
    const { body: found } = await tenant.get(`${external}/accounts`).expect(200);
    expect(found.data.totalElements).to.equal(0);
  });
});
