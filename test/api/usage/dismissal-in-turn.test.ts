import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { expect } from 'chai';
import { createService, rate, usage } from '../../support/billing/usage.js';
import { useInstance } from '../../support/servers/use-instance.js';

const path = '/v1/usage-events/dismiss';
const reason = 'Sent by a test.';
/** After so long a flow is given up that has a limit. */
const flowLifeMs = 4_000;

describe('a dismissal that takes long', function () {
  this.timeout(120_000);
  let begun = (): void => undefined;
  let go = (): void => undefined;
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const mayGo = new Promise<void>((resolve) => (go = resolve));
  const instance = useInstance({
    withWorkers: true,
    flowLifeMs,
    activityInterceptors: [
      () => ({
        inbound: {
          execute: async (input, next): Promise<unknown> => {
            if (Context.current().info.activityType === 'dismissPage') {
              begun();
              await mayGo;
            }
            return next(input);
          },
        },
      }),
    ],
  });

  // spec/beyond.md R490
  it('has no time limit, and no other of the tenant beside it', async () => {
    const tenant = await instance.tenant();
    const event = await rate(tenant, usage('nobody', await createService(tenant, 'Calls')));
    expect(event.status).to.equal('rejected');
    const ask = (key: string) => tenant.post(path, { reason }).set('idempotency-key', key);
    const first = Promise.resolve(ask('one'));
    await isBegun;
    await ask('two').expect(409);
    await tenant.post(path, { reason: 'Another.' }).expect(409);
    const again = Promise.resolve(ask('one'));
    await wait(flowLifeMs);
    go();
    const { status, body } = await first;
    expect(status).to.equal(200);
    expect(body).to.include({ dismissed: 1, isComplete: true });
    expect((await again).body).to.deep.equal(body);
    expect((await ask('two').expect(200)).body).to.include({ dismissed: 0 });
  });
});
