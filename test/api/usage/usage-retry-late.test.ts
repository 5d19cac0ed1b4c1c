import { expect } from 'chai';
import {
  createAccount,
  createService,
  meteredService,
  send,
  summary,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { UsageEvent } from '../../../src/models/usage/usage-event.js';
import { findUsageOutcomes } from '../../../src/queries/usage/usage-outcomes.js';
import { until } from '../../start/workbench.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** An instance whose requests wait a millisecond for their workflow: none ends as quickly. */
describe('a retry that takes longer than a request waits', () => {
  const instance = useInstance({ withWorkers: true, flowTimeoutMs: 1 });
  const tenant = useTenant(instance);

  for (const [name, path] of [
    ['of one event', (id: string) => `/v1/usage-events/${id}/retry`],
    ['of a filter', () => '/v1/usage-events/retry'],
  ] as const) {
    it(`${name} answers 504 with the execution's id, and goes on`, async () => {
      const serviceId = await createService(tenant, name, meteredService);
      const accountRef = `late ${name}`;
      const [id = ''] = await send(tenant, usage(accountRef, serviceId));
      await waitUntilRated(tenant);
      const before = await summary(tenant);
      expect(before.rejected).to.equal(1);
      await createAccount(tenant, accountRef);
      const { body } = await tenant.post(path(id), {}).expect(504);
      expect(body.error.code).to.equal('TIMEOUT');
      expect(body.error.details.executionId).to.be.a('string');
      await until(async () => (await summary(tenant)).rejected === 0, 20_000, 'the retry');
      expect((await summary(tenant)).rated).to.equal(before.rated + 1);
    });
  }
});

describe('a retry while outcomes are read', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  it('leaves no event among the rejected ones that is rated', async () => {
    const serviceId = await createService(tenant, 'Calls', meteredService);
    const ranges: { partition: number; from: number; to: number }[] = [];
    const messages = [usage('late', serviceId), usage('never', serviceId)];
    for (const message of messages) {
      const { body } = await tenant.post('/v1/ingest/usage', { message }).expect(200);
      ranges.push({ partition: body.partition, from: body.offset, to: body.offset + 1 });
    }
    await waitUntilRated(tenant, 2);
    await createAccount(tenant, 'late');
    const [late, never] = messages.map(({ externalTransactionId }) => externalTransactionId);
    const readByWeight = UsageEvent.readByWeight.bind(UsageEvent);
    // After it was found which are rejected, and before these are read.
    UsageEvent.readByWeight = async function* (...of) {
      await tenant.post(`/v1/usage-events/${String(late)}/retry`, {}).expect(200);
      yield* readByWeight(...of);
    };
    try {
      const { rejectedEvents } = await findUsageOutcomes(tenant.scope, ranges);
      expect(
        rejectedEvents.map((event) => [event.externalTransactionId, event.status]),
      ).to.deep.equal([[never, 'rejected']]);
    } finally {
      UsageEvent.readByWeight = readByWeight;
    }
  });
});
