import { expect } from 'chai';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { event, send, summary, usage } from '../../support/billing/usage.js';

describe('usage events that wait', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('are found by their ids, listed and counted', async () => {
    for (let index = 0; index < 5; index += 1) {
      await send(
        tenant,
        usage(`account-${index}`, 'x', { externalTransactionId: `wait "${index}"` }),
      );
    }
    expect(await summary(tenant)).to.deep.equal({
      accepted: 5,
      rated: 0,
      duplicate: 0,
      rejected: 0,
      pending: 5,
    });
    const { body } = await tenant.get('/v1/usage-events').expect(200);
    const names = body.data.map((each: Record<string, unknown>) => each['externalTransactionId']);
    expect(names).to.deep.equal(['wait "4"', 'wait "3"', 'wait "2"', 'wait "1"', 'wait "0"']);
    const byName = await event(tenant, 'wait "2"');
    expect(byName).to.include({
      status: 'pending',
      billingAccountRef: 'account-2',
      workflowId: null,
    });
    expect(byName.ratedTransactions).to.deep.equal([]);
    expect(await event(tenant, byName.id as string)).to.deep.equal(byName);
    const page = await tenant.get('/v1/usage-events?status=pending&limit=2&offset=1').expect(200);
    expect(page.body.data).to.deep.equal(body.data.slice(1, 3));
    expect(page.body.pagination).to.include({ total: 5, hasMore: true });
    const other = await instance.tenant();
    await other.get(`/v1/usage-events/${byName.id as string}`).expect(404);
    const retry = await tenant.post(`/v1/usage-events/${byName.id as string}/retry`).expect(409);
    expect(retry.body.error.code).to.equal('CONFLICT');
  });

  // spec/beyond.md R201, R203
  it('for longer than a correction waits are 409, and stay as they are', async () => {
    const impatient = await openTestInstance({ flowTimeoutMs: 400 });
    try {
      const other = await impatient.tenant();
      const message = usage('acme', 'x');
      const [id = ''] = await send(other, message);
      const reason = 'It was wrong.';
      for (const [way, more] of [
        ['cancel', {}],
        ['amend', { message }],
      ] as const) {
        const path = `/v1/usage-events/${id}/${way}`;
        const { body } = await other.post(path, { reason, ...more }).expect(409);
        expect(body.error.message).to.include('is pending');
      }
      expect(await event(other, id)).to.include({ status: 'pending' });
    } finally {
      await impatient.close();
    }
  });
});
