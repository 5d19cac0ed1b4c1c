import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import request from 'supertest';
import { createAccessKey } from '../../src/access/access-keys.js';
import { markOverdueInvoices } from '../../src/commands/billing/overdue-invoices.js';
import { storeInvoice } from '../support/billing/invoices.js';
import {
  createAccount,
  createService,
  rate,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import {
  exampleNames,
  picturePath,
  readExample,
  runnableExample,
} from '../support/billing/workflow-examples.js';
import { json, openServer } from '../support/servers/elsewhere.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

// spec/beyond.md R340
describe('the examples of workflows', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let server: Awaited<ReturnType<typeof openServer>>;
  before(async () => {
    server = await openServer();
  });
  after(() => server.close());
  beforeEach(async () => {
    server.asked.splice(0);
    server.answer = json({ id: 'c-7' });
    await tenant.put('/v1/secrets/CRM_TOKEN', { value: 'hush' }).expect(200);
  });

  const publish = async (name: string): Promise<string> => {
    const definition = await runnableExample(name, server.url);
    return (await tenant.post('/v1/workflows', { definition }).expect(201)).body.id;
  };
  const begin = async (name: string, data: object): Promise<string> => {
    const start = { data, async: true };
    const { body } = await tenant.post(`/v1/workflows/${name}/execute`, start).expect(200);
    return body.executionId;
  };
  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error('It did not happen in time.');
  };
  const ended = (name: string, executionId: string): Promise<Body> =>
    until(async () => {
      const path = `/v1/workflows/${name}/executions/${executionId}`;
      const { body } = await tenant.get(path).expect(200);
      return body.status === 'running' ? undefined : body;
    });
  /** The executions of a workflow that something else started, once so many have ended. */
  const endedOf = (name: string, count: number): Promise<Body[]> =>
    until(async () => {
      const { body } = await tenant.get(`/v1/workflows/${name}/executions`).expect(200);
      const isOver = body.data.every(({ status }: Body) => status !== 'running');
      return isOver && body.data.length === count ? body.data : undefined;
    });
  const asked = (): Promise<Body> =>
    until(async () => {
      const { body } = await tenant.get('/v1/approvals?status=pending&kind=workflow').expect(200);
      return body.data[0];
    });
  /** Somebody else than whoever starts executions. */
  const colleague = async () => {
    const key = await createAccessKey(instance.platform.database.platform, {
      tenantId: tenant.id,
      orgId: null,
      roles: ['ADMIN'],
      name: 'colleague',
    });
    return async (id: string, decision: string): Promise<void> => {
      const call = request(instance.url).post(`/v1/approvals/${id}`);
      const { status } = await call.set('Authorization', `Bearer ${key}`).send({ decision });
      expect(status).to.equal(200);
    };
  };
  const account = async (id: string): Promise<Body> =>
    (await tenant.get(`${external}/accounts/${id}`).expect(200)).body.data;

  it('onboarding: a customer is made, and approved by somebody else', async () => {
    await publish('onboarding');
    const execution = await begin('onboarding', { company: 'Acme', externalId: 'acme' });
    const { id, after } = await asked();
    expect(after).to.deep.equal({ company: 'Acme', externalId: 'acme' });
    await tenant.post(`/v1/approvals/${id}`, { decision: 'approve' }).expect(403);
    await (
      await colleague()
    )(id, 'approve');
    const { status, output } = await ended('onboarding', execution);
    expect(status).to.equal('completed');
    expect(await account(output.accountId)).to.deep.include({
      Name: 'Acme',
      ApprovalStatus__r: { Name: 'Approved' },
    });
    const [sent] = server.asked;
    expect(sent).to.include({ method: 'POST', url: '/crm/customers' });
    expect(sent?.headers.authorization).to.equal('Bearer hush');
    expect(JSON.parse(sent?.body ?? '')).to.deep.equal({
      name: 'Acme',
      billingId: output.accountId,
    });
  });

  it('onboarding: a rejection takes back what was made', async () => {
    await publish('onboarding');
    const execution = await begin('onboarding', { company: 'Acme', externalId: 'acme' });
    await (
      await colleague()
    )((await asked()).id, 'reject');
    const { status, error } = await ended('onboarding', execution);
    expect(status).to.equal('failed');
    expect(error.details.undone).to.deep.equal(['/do/1/customer', '/do/0/account']);
    expect(server.asked.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      'POST /crm/customers',
      'DELETE /crm/customers/c-7',
    ]);
    await tenant.get(`${external}/accounts/acme?isExternal=true`).expect(404);
  });

  it('dunning: two reminders and a pause, or the end with the payment', async () => {
    await publish('dunning');
    const ids: string[] = [];
    for (const name of ['late', 'pays']) ids.push(await createAccount(tenant, name));
    const [late = '', pays = ''] = ids;
    for (const [index, accountId] of ids.entries()) {
      const invoice = { accountId, invoiceNo: `INV-${index}`, amount: '5', balance: '5' };
      await storeInvoice(tenant.scope, { invoice: { ...invoice, dueDate: '2026-04-08' } });
    }
    // Whoever pays does so when the first reminder has come.
    server.answer = (request, response) => {
      const { accountId } = JSON.parse(request.body);
      const payment = {
        accountId,
        amount: 5,
        currency: 'USD',
        paymentDate: '2026-04-20',
        paymentMethod: 'Cash',
        paymentType: 'Pay In',
        paymentReference: 'of a reminder',
      };
      const paid =
        accountId === pays
          ? tenant.post(`${external}/payments`, payment).expect(201)
          : Promise.resolve();
      void Promise.resolve(paid).then(() => response.writeHead(204).end());
    };
    expect(await markOverdueInvoices(tenant.scope, 10)).to.equal(2);
    const executions = await endedOf('dunning', 2);
    const outputs = executions.map(({ input, output }) => [input.accountId, output]);
    expect(outputs).to.have.deep.members([
      [late, { paused: true, reminders: 2 }],
      [pays, { paused: false, reminders: 1 }],
    ]);
    const letters = server.asked.map(({ body }) => JSON.parse(body));
    expect(letters).to.have.deep.members([
      { template: 'friendly-reminder', accountId: late, invoiceNo: 'INV-0' },
      { template: 'friendly-reminder', accountId: pays, invoiceNo: 'INV-1' },
      { template: 'last-reminder', accountId: late, invoiceNo: 'INV-0' },
    ]);
    expect((await account(late)).Status__r.Name).to.equal('Inactive');
    expect((await account(pays)).Status__r.Name).to.equal('Active');
  });

  for (const [decision, paused] of [
    ['approve', true],
    ['reject', false],
  ] as const) {
    it(`credit limit: an alert asks whether usage is paused: ${decision}`, async () => {
      await publish('credit-limit');
      const serviceId = await createService(tenant, 'Calls');
      const accountId = await createAccount(tenant, 'acme');
      const alert = {
        name: 'Credit limit',
        measure: 'spend',
        period: 'Monthly',
        thresholds: [2],
        workflowId: 'credit-limit',
      };
      await tenant.post('/v1/alerts', alert).expect(201);
      // 300 x 0.01 = 3.
      const event = { dimensions: { api_calls: '300' }, eventTimestamp: new Date().toISOString() };
      await send(tenant, usage('acme', serviceId, event));
      await waitUntilRated(tenant, 1);
      const { id, title } = await asked();
      expect(title).to.equal('Pause the usage of acme?');
      await tenant.post(`/v1/approvals/${id}`, { decision }).expect(200);
      const [execution] = await endedOf('credit-limit', 1);
      expect(execution.output).to.deep.equal({ paused });
      expect((await account(accountId)).Status__r.Name).to.equal(paused ? 'Inactive' : 'Active');
      const next = usage('acme', serviceId, { eventTimestamp: new Date().toISOString() });
      const { status } = await rate(tenant, next);
      expect(status).to.equal(paused ? 'rejected' : 'rated');
    });
  }

  it('large contract: a small one at once, a large one with two people', async () => {
    await publish('large-contract');
    const masterAccountId = await createAccount(tenant, 'acme');
    const contract = async (number: string, totalPrice: number): Promise<string> => {
      const body = { masterAccountId, number, totalPrice };
      return (await tenant.post(`${external}/contracts`, body).expect(201)).body.id;
    };
    const statusOf = async (id: string): Promise<string> =>
      (await tenant.get(`${external}/contracts/${id}`).expect(200)).body.approvalStatus;
    const small = await contract('C-1', 99_999);
    const first = await begin('large-contract', { contractId: small });
    expect((await ended('large-contract', first)).status).to.equal('completed');
    expect(await statusOf(small)).to.equal('Approved');
    const large = await contract('C-2', 100_000);
    const second = await begin('large-contract', { contractId: large });
    const { id, title } = await asked();
    expect(title).to.equal('Approve the contract C-2?');
    await (
      await colleague()
    )(id, 'approve');
    expect(await statusOf(large)).not.to.equal('Approved');
    await (
      await colleague()
    )(id, 'approve');
    expect((await ended('large-contract', second)).status).to.equal('completed');
    expect(await statusOf(large)).to.equal('Approved');
  });

  it('prices with approval: what was tried is in force once somebody else agrees', async () => {
    await publish('promote-prices');
    const serviceId = await createService(tenant, 'Calls');
    const rows = [
      { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate: 0.02 },
    ];
    const changes = [{ kind: 'rateCard', serviceId, currency: 'USD', rows }];
    const data = { name: 'Two cents', from: '2026-03-01', to: '2026-04-01', changes };
    const { body } = await tenant.post('/v1/workflows/reprice/execute', { data }).expect(200);
    const { repricingId } = body.output;
    const execution = await begin('promote-prices', { repricingId, fromDate: '2041-01-01' });
    const { id, title } = await asked();
    expect(title).to.equal('Put "Two cents" in force from 2041-01-01 on?');
    await tenant.post(`/v1/approvals/${id}`, { decision: 'approve' }).expect(403);
    const tried = async () => (await tenant.get(`/v1/repricings/${repricingId}`).expect(200)).body;
    expect(await tried()).to.include({ promotedFrom: null });
    await (
      await colleague()
    )(id, 'approve');
    expect((await ended('promote-prices', execution)).status).to.equal('completed');
    expect(await tried()).to.include({ promotedFrom: '2041-01-01', isForced: false });
  });

  it('nightly what-if: what a fifth more usage would cost is reported', async () => {
    await publish('nightly-what-if');
    const serviceId = await createService(tenant, 'Calls');
    await createAccount(tenant, 'acme');
    await send(tenant, usage('acme', serviceId));
    await waitUntilRated(tenant, 1);
    // Usage of 15 March lies within the 30 days before.
    const execution = await begin('nightly-what-if', { scheduledAt: '2026-04-01T00:30:00.000Z' });
    const { status, output } = await ended('nightly-what-if', execution);
    expect(status).to.equal('completed');
    await tenant.get(`/v1/repricings/${output.repricingId}`).expect(200);
    const [sent] = server.asked;
    expect(sent).to.include({ method: 'POST', url: '/chat/reports' });
    // 100 x 0.01 = 1, and 120 x 0.01 = 1.2.
    expect(JSON.parse(sent?.body ?? '')).to.deep.equal({
      title: 'A fifth more usage',
      before: [{ currency: 'USD', amount: 1 }],
      after: [{ currency: 'USD', amount: 1.2 }],
      isWithinLimits: true,
    });
  });

  // spec/beyond.md R355
  it('have pictures in the guide that are those of their diagrams', async () => {
    const names = await exampleNames();
    expect(names).to.have.length(6);
    for (const name of names) {
      const definition = await readExample(name);
      const { body } = await tenant.post('/v1/workflows', { definition }).expect(201);
      const { body: picture } = await tenant.get(`/v1/workflows/${body.id}/diagram`).expect(200);
      const committed = await readFile(picturePath(name), 'utf8');
      expect(String(picture), `${name}: npm run draw-examples`).to.equal(committed);
    }
  });
});
