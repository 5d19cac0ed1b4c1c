import { expect } from 'chai';
import pg from 'pg';
import { external, type TestTenant } from '../support/servers/instance.js';
import { useInstance } from '../support/servers/use-instance.js';

// Nobody works here: what is started has recorded nothing of itself, as if its process had just died.
describe('an Idempotency-Key of an execution in the background', () => {
  const instance = useInstance({ withWorkers: false });
  const path = '/v1/workflows/payment-save/execute';

  const paymentOf = async (tenant: TestTenant) => {
    const account = { name: 'Acme', externalId: 'acme', defaultCurrency: 'USD' };
    const { body } = await tenant.post(`${external}/accounts`, account).expect(201);
    return {
      account_id: body.id,
      amount: 5,
      currency_id: 'USD',
      payment_date: '2026-10-05',
      payment_method: 'ACH',
      payment_reference: 'R-1',
    };
  };

  // spec/flows.md R33
  it('finds what its first request has started, before that is recorded', async () => {
    const tenant = await instance.tenant();
    const data = await paymentOf(tenant);
    const send = () => tenant.post(path, { data, async: true }).set('Idempotency-Key', 'once');
    const first = await send().expect(200);
    const client = new pg.Client(instance.databaseUrl);
    await client.connect();
    const gone = await client.query('delete from execution where tenant_id = $1', [tenant.id]);
    await client.end();
    expect(gone.rowCount).to.equal(1);
    const again = await send().expect(200);
    expect(again.body).to.deep.include({ executionId: first.body.executionId, status: 'running' });
  });

  it('is a conflict where the same is being done for another request', async () => {
    const tenant = await instance.tenant();
    const data = await paymentOf(tenant);
    await tenant.post(path, { data, async: true }).set('Idempotency-Key', 'one').expect(200);
    const other = await tenant
      .post(path, { data: { ...data, amount: 7 }, async: true })
      .set('Idempotency-Key', 'another');
    expect(other.status, other.text).to.equal(409);
    expect(other.body.error.message).to.equal('The same is being done at this moment.');
  });
});
