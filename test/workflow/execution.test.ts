import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { flowList } from '../../src/schemas/flows/index.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';

const workflows = '/v1/workflows';
const noSuchId = '0190a000-0000-7000-8000-000000000000';

/** Reads until the answer is as wanted: the time limit of the test ends the waiting. */
async function until<T>(read: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isRight(value)) return value;
    await wait(50);
  }
}

describe('workflows and their executions', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let accountId: string;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      activityInterceptors: [
        () => ({
          inbound: {
            execute(input, next): Promise<unknown> {
              const isHeld = JSON.stringify(input.args).includes('"payment_reference":"H-');
              const isStep = Context.current().info.activityType === 'createPayment';
              return isHeld && isStep
                ? Promise.reject(ApplicationFailure.retryable('No database.', awayFailureType))
                : next(input);
            },
          },
        }),
      ],
    });
    tenant = await instance.tenant();
    const account = await tenant
      .post(`${external}/accounts`, { name: 'Acme', externalId: 'acme' })
      .expect(201);
    accountId = account.body.id;
  });
  after(() => instance.close());

  const payment = (reference: string) => ({
    account_id: 'acme',
    amount: 12.34,
    currency_id: 'USD',
    payment_date: '2026-04-30',
    payment_method: 'Cash',
    payment_reference: reference,
  });
  const execute = (name: string, body: object) => tenant.post(`${workflows}/${name}/execute`, body);

  // spec/flows.md R22
  it('are listed with the schema of their data, and read by id or name', async () => {
    const { body } = await tenant.get(`${workflows}?limit=100`).expect(200);
    const names = body.data.map((one: { name: string }) => one.name);
    expect(names).to.include.members([
      'account-create',
      'payment-save',
      'service-clone',
      'billing-run',
      'credit-invoice',
      'audit-usage',
      'rerate-usage',
      'reprice',
      'erase-person',
    ]);
    // All flows, billing-run, credit-invoice, audit-usage, rerate-usage, reprice and erase-person.
    expect(body.pagination.total).to.equal(flowList.length + 6);
    const byName = await tenant.get(`${workflows}/payment-save`).expect(200);
    expect(byName.body.dataSchema.required).to.include('payment_reference');
    const byId = await tenant.get(`${workflows}/${byName.body.id as string}`).expect(200);
    expect(byId.body).to.deep.equal(byName.body);
    await tenant.get(`${workflows}/no-such-workflow`).expect(404);
  });

  // spec/flows.md R1, R10, R13
  it('contracts tell what a caller must send, and how', async () => {
    const { body } = await tenant.get(`${external}/api-contract`).expect(200);
    expect(body).to.have.length(flowList.length);
    const edit = body.find((one: { flowName: string }) => one.flowName === 'Account Edit Flow');
    expect(edit.requiredFields).to.deep.equal(['id']);
    expect(edit.optionalFields).to.have.length(33);
    const create = body.find((one: { flowName: string }) => one.flowName === 'Onboarding Flow');
    expect(create.requiredFields).to.have.members([
      'Company_Name',
      'First_Name',
      'Last_Name',
      'Line1',
      'City',
      'State',
      'Country',
      'Currency',
      'Zip_Code',
    ]);
    expect(create.optionalFields).to.have.members(['Name', 'Line2', 'ExternalId']);
    expect(create.requestBody.properties.Company_Name).to.include({
      type: 'string',
      title: 'Company Name',
    });
    for (const { flowName, requestBody } of body) {
      const fields = Object.entries<{ type: unknown; title: unknown }>(requestBody.properties);
      for (const [name, { type, title }] of fields) {
        expect(type, `${flowName}: ${name}`).to.be.oneOf([
          'string',
          'number',
          'integer',
          'boolean',
        ]);
        expect(title, `${flowName}: ${name}`).to.match(/\S/);
      }
    }
    const contract = body.find(
      (one: { flowName: string }) => one.flowName === 'Contract Save Flow',
    );
    expect(contract.requestBody.properties.total_price.type).to.equal('number');
    expect(contract.requestBody.properties.end_date.type).to.equal('string');
    expect(create.endpoint).to.include({
      method: 'POST',
      path: '/api/v1/external/run/billing/account/create',
    });
    const one = await tenant.get(`${external}/api-contract/${edit.flowId as string}`).expect(200);
    expect(one.body).to.deep.equal(edit);
    await tenant.get(`${external}/api-contract/${noSuchId}`).expect(404);
  });

  // spec/flows.md R23
  it('executed synchronously, the execution holds input, output, times and actor', async () => {
    const { body } = await execute('payment-save', { data: payment('E-1') }).expect(200);
    expect(body).to.include({ status: 'completed', workflowName: 'payment-save', error: null });
    expect(body.actor).to.equal('tester');
    expect(body.input).to.deep.equal(payment('E-1'));
    expect(body.output).to.include({ amount: 12.34, accountId, paymentReference: 'E-1' });
    expect(Date.parse(body.completedAt)).to.be.at.least(Date.parse(body.startedAt));
    expect(body.temporalUrl).to.match(/^http.*workflows.*payment%2FE-1/);
    const path = `${workflows}/payment-save/executions/${body.executionId as string}`;
    expect((await tenant.get(path).expect(200)).body).to.deep.equal(body);
  });

  // spec/flows.md R23
  it('has ended when its last step has, however long that waited', async () => {
    const { body, released } = await asOwner(instance.databaseUrl, async (client) => {
      await client.query('begin; lock table payment in share row exclusive mode');
      const answer = execute('payment-save', { data: payment('E-9') })
        .expect(200)
        .then(({ body }) => body as { completedAt: string });
      await until(
        () =>
          client.query(
            `select from pg_locks where not granted and relation = 'payment'::regclass
               and database = (select oid from pg_database where datname = current_database())`,
          ),
        ({ rowCount }) => rowCount !== null && rowCount > 0,
      );
      await wait(100);
      const { rows } = await client.query<{ at: Date }>('select clock_timestamp() as at');
      await client.query('commit');
      return { body: await answer, released: rows[0]?.at.getTime() };
    });
    expect(Date.parse(body.completedAt)).to.be.at.least(Number(released));
  });

  // spec/flows.md R24, R27
  it('one that fails is an answer with its error', async () => {
    await execute('payment-save', { data: payment('E-2') }).expect(200);
    const { body } = await execute('payment-save', { data: payment('E-2') }).expect(200);
    expect(body).to.include({ status: 'failed', output: null });
    expect(body.error).to.include({ code: 'CONFLICT', status: 409 });
    expect(body.completedAt).to.be.a('string');
  });

  // spec/flows.md R26
  it('data that do not fit are refused, and nothing is executed', async () => {
    const list = `${workflows}/payment-edit/executions`;
    const before = (await tenant.get(list).expect(200)).body.pagination.total;
    const { body } = await execute('payment-edit', { data: { id: 5 } }).expect(400);
    expect(body.error).to.include({ code: 'VALIDATION_ERROR' });
    expect(body.error.details.field).to.equal('id');
    expect((await tenant.get(list).expect(200)).body.pagination.total).to.equal(before);
  });

  // spec/flows.md R25
  it('executed asynchronously, it answers at once and can be followed to its end', async () => {
    const { body } = await execute('payment-save', { data: payment('E-3'), async: true }).expect(
      200,
    );
    expect(body.status).to.be.oneOf(['running', 'completed']);
    const path = `${workflows}/payment-save/executions/${body.executionId as string}`;
    const ended = await until(
      async () => (await tenant.get(path).expect(200)).body,
      ({ status }) => status !== 'running',
    );
    expect(ended).to.include({ status: 'completed' });
    expect(ended.output).to.include({ paymentReference: 'E-3' });
  });

  // spec/flows.md R28
  it('are listed with the latest first, by status too; runs by slug are among them', async () => {
    const run = await tenant
      .post(`${external}/run/billing/payment/create`, payment('E-4'))
      .expect(200);
    const { body } = await tenant.get(`${workflows}/payment-save/executions?limit=1`).expect(200);
    expect(body.data[0].executionId).to.equal(run.body.flowExecutionId);
    expect(body.pagination).to.include({ limit: 1, offset: 0, hasMore: true });
    const failed = await tenant
      .get(`${workflows}/payment-save/executions?status=failed`)
      .expect(200);
    expect(failed.body.data.map(({ status }: { status: string }) => status)).to.deep.equal([
      'failed',
    ]);
    await tenant.get(`${workflows}/payment-save/executions?status=odd`).expect(400);
    await tenant.get(`${workflows}/payment-save/executions/${noSuchId}`).expect(404);
    await tenant
      .get(`${workflows}/payment-edit/executions/${run.body.flowExecutionId as string}`)
      .expect(404);
  });

  it('an Idempotency-Key gives an execution one effect', async () => {
    const body = { data: payment('E-5'), async: true };
    const send = () => execute('payment-save', body).set('Idempotency-Key', 'E-5').expect(200);
    const first = await send();
    const second = await send();
    expect(second.body.executionId).to.equal(first.body.executionId);
  });

  it('an execution that is repeated or read gives its output as it was given first', async () => {
    const body = { data: payment('E-6') };
    const send = () => execute('payment-save', body).set('Idempotency-Key', 'E-6').expect(200);
    const [first, second] = [await send(), await send()];
    expect(second.text).to.equal(first.text);
    const path = `${workflows}/payment-save/executions/${first.body.executionId as string}`;
    const read = await tenant.get(path).expect(200);
    expect(JSON.stringify(read.body.output)).to.equal(JSON.stringify(first.body.output));
  });

  describe('that are under way', () => {
    /** An execution whose step finds the database away, and waits. */
    const held = async (reference: string) => {
      const { body } = await execute('payment-save', { data: payment(reference), async: true });
      return `${workflows}/payment-save/executions/${body.executionId as string}`;
    };
    const statusOf = async (path: string) => (await tenant.get(path).expect(200)).body.status;

    // spec/flows.md R27
    it('can be cancelled', async () => {
      const path = await held('H-1');
      expect(await statusOf(path)).to.equal('running');
      await tenant.post(`${path}/cancel`).expect(200);
      expect(
        await until(
          () => statusOf(path),
          (status) => status !== 'running',
        ),
      ).to.equal('canceled');
    });

    // spec/flows.md R27
    it('and are terminated in Temporal, show so here', async () => {
      const path = await held('H-2');
      const { temporal } = instance.platform;
      await temporal.waiter.workflow.getHandle(`${tenant.id}/payment/H-2`).terminate('by hand');
      expect(
        await until(
          () => statusOf(path),
          (status) => status !== 'running',
        ),
      ).to.equal('terminated');
    });
  });

  it('one that has ended cannot be cancelled', async () => {
    const { body } = await execute('payment-save', { data: payment('E-6') }).expect(200);
    const path = `${workflows}/payment-save/executions/${body.executionId as string}/cancel`;
    expect((await tenant.post(path).expect(409)).body.error.code).to.equal('CONFLICT');
  });
});
