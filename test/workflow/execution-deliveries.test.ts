import { expect } from 'chai';
import { runFlow } from '../support/billing/flows.js';
import { createAccount } from '../support/billing/usage.js';
import { openReceiver, type Receiver } from '../support/servers/receiver.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Delivery {
  readonly workflowId: string | null;
  readonly id: string;
  readonly event: string;
  readonly recordId: string;
  readonly recordType: string;
  readonly recordName: string | null;
}

const told = ({ recordType, recordName }: Delivery) => [recordType, recordName];

// spec/beyond.md R464
describe('webhooks that followed an execution', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await openReceiver();
    const events = ['workflow.completed', 'mdata.created', 'payment.saved'];
    await tenant.post('/v1/webhooks', { url: receiver.url, events, secret }).expect(201);
    await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
  });
  afterEach(() => receiver.close());

  const deliveriesOf = async (
    { workflowId, executionId }: { workflowId: string; executionId: string },
    query = '',
    status = 200,
  ) => {
    const path = `/v1/workflows/${workflowId}/executions/${executionId}/deliveries${query}`;
    return (await tenant.get(path).expect(status)).body;
  };
  const createRecord = {
    call: 'durabill.operation',
    with: { operationId: 'createRecord', parameters: { mobjectId: 'thing' }, body: { data: {} } },
  };
  const execute = async (name: string, data: object = {}) =>
    (await tenant.post(`/v1/workflows/${name}/execute`, { data }).expect(200)).body;

  it("are those of a tenant's workflow: of what it called, and of its end", async () => {
    const document = { dsl: '1.0.0', namespace: 'test', name: 'two', version: '1.0.0' };
    const definition = { document, do: [{ one: createRecord }, { two: createRecord }] };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const first = await execute('two');
    await tenant.post('/v1/mobjects/thing/mdata', { data: {} }).expect(201);
    const second = await execute('two');
    const { data, pagination } = await deliveriesOf(first);
    const kinds = data.map(({ event }: Delivery) => event);
    expect(kinds).to.deep.equal(['workflow.completed', 'mdata.created', 'mdata.created']);
    expect(pagination.total).to.equal(3);
    // spec/beyond.md R512
    expect(data.map(told)).to.deep.equal([
      ['execution', 'two'],
      ['record', null],
      ['record', null],
    ]);
    expect(data[0].recordId).to.equal(first.executionId);
    const others = (await deliveriesOf(second)).data;
    expect(others.map(({ event }: Delivery) => event)).to.deep.equal(kinds);
    expect(others[0].recordId).to.equal(second.executionId);
    const page = await deliveriesOf(first, '?limit=1&offset=1');
    expect(page.data.map(({ id }: Delivery) => id)).to.deep.equal([data[1].id]);
    await deliveriesOf(first, '?limit=many', 400);
  });

  // spec/beyond.md R533
  it('lead to the execution, also when another workflow has the name of its own', async () => {
    const accountId = await createAccount(tenant, 'acme');
    const document = { dsl: '1.0.0', namespace: 'test', name: 'two', version: '1.0.0' };
    const definition = { document, do: [{ one: createRecord }] };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const execution = await execute('two', { account_id: accountId });
    await tenant.delete('/v1/workflows/two').expect(204);
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const { workflowId, executionId } = execution;
    await tenant.get(`/v1/workflows/two/executions/${executionId}`).expect(404);
    const { data } = await deliveriesOf(execution);
    const toldOf = data.map((delivery: Delivery) => [...told(delivery), delivery.workflowId]);
    expect(toldOf).to.deep.equal([
      ['execution', 'two', workflowId],
      ['record', null, null],
    ]);
    const path = `/v1/accounts/${accountId}/timeline?kind=flow`;
    const entries = (await tenant.get(path).expect(200)).body.data;
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ name: 'two', workflowId, recordId: executionId });
  });

  it('are those of what is built in', async () => {
    const accountId = await createAccount(tenant, 'acme');
    const made = {
      account_id: accountId,
      amount: 5,
      currency_id: 'USD',
      payment_method: 'ACH',
      payment_reference: 'P-1',
      payment_date: '2026-03-01',
    };
    await runFlow(tenant, 'payment/create', made);
    const path = '/v1/workflows/payment-save/executions';
    const [execution] = (await tenant.get(path).expect(200)).body.data;
    const { data } = await deliveriesOf(execution);
    expect(data.map(({ event }: Delivery) => event)).to.deep.equal([
      'workflow.completed',
      'payment.saved',
    ]);
    expect(data.map(told)).to.deep.equal([
      ['execution', 'payment-save'],
      ['payment', 'P-1'],
    ]);
  });

  it('are those of its tenant, and of executions that are there', async () => {
    const executionId = '01939c6e-7a00-4000-8000-00000000beef';
    await deliveriesOf({ workflowId: 'payment-save', executionId }, '', 404);
    await deliveriesOf({ workflowId: 'unknown', executionId }, '', 404);
  });
});
