import { randomUUID } from 'node:crypto';
import { Client, WorkflowFailedError } from '@temporalio/client';
import { TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { expect } from 'chai';
import { signatureMemo } from '../../src/messages/workflow-signature.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { until } from '../start/workbench.js';

interface Forged {
  readonly type: string;
  readonly workflowId: string;
  readonly input: unknown;
  readonly memo?: Record<string, unknown>;
}

/**
 * Somebody who reaches Temporal with a client of his own, and perhaps is a tenant: he starts workflows
 * with whatever input he likes.
 */
describe('a workflow that somebody else starts', function () {
  this.timeout(120_000);
  const lines: string[] = [];
  let instance: TestInstance;
  let victim: TestTenant;
  let attacker: TestTenant;
  let accountId: string;
  let client: Client;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      logTo: { write: (line) => void lines.push(line) },
    });
    victim = await instance.tenant();
    attacker = await instance.tenant();
    accountId = await createAccount(victim, 'acme');
    await createAccount(attacker, 'own');
    const { waiter, namespace } = instance.platform.temporal;
    client = new Client({ connection: waiter.connection, namespace });
  });
  after(() => instance.close());

  const runOf = (tenantId: string, input: object, executionId: string = randomUUID()) => ({
    executionId,
    tenantId,
    orgId: 'org',
    actor: 'chief-executive',
    requestId: 'forged',
    input,
  });
  const start = ({ type, workflowId, input, memo = {} }: Forged) =>
    client.workflow.start(type, {
      workflowId,
      taskQueue: instance.platform.temporal.taskQueue,
      args: [input],
      memo,
    });
  const failureOf = async (forged: Forged): Promise<string> => {
    const handle = await start(forged);
    const end: unknown = await handle.result().then(
      () => 'it completed',
      (error: unknown) => error,
    );
    // The failure of an activity that is not local stands around its reason.
    let cause: unknown = end instanceof WorkflowFailedError ? end.cause : end;
    while (cause instanceof Error && cause.cause instanceof Error) ({ cause } = cause);
    return String(cause);
  };
  /** All rows of a tenant that a workflow could have written. */
  const rowsOf = async ({ scope, id }: TestTenant): Promise<string> => {
    const counts: string[] = [];
    for (const table of [
      'account',
      'payment',
      'contract',
      'service',
      'invoice',
      'execution',
      'audit',
      'usage_event',
      'rated_transaction',
      'webhook_event',
    ]) {
      const { rows } = await scope.db.read.raw<{ rows: { count: string }[] }>(
        'select count(*)::text as count from ?? where tenant_id = ?',
        [table, id],
      );
      counts.push(`${table} ${rows[0]?.count ?? ''}`);
    }
    return counts.join(', ');
  };
  const refusals = (workflowId: string): string[] =>
    lines.filter((line) => line.includes('unauthenticated workflow') && line.includes(workflowId));

  const payment = () => ({
    accountId,
    amount: 1,
    currency: 'USD',
    paymentDate: '2026-01-01',
    paymentMethod: 'Cash',
    paymentReference: `forged-${randomUUID()}`,
  });
  const usageRange = (tenantId: string) => ({
    tenantId,
    partition: 0,
    firstOffset: 0,
    endOffset: 1,
  });
  const onboarding = {
    Company_Name: 'Forged',
    First_Name: 'A',
    Last_Name: 'B',
    Line1: 'L',
    City: 'C',
    State: 'S',
    Country: 'US',
    Currency: 'USD',
    Zip_Code: '1',
    ExternalId: 'forged',
  };
  const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
  const flow = (start_: object) => ({ start: start_, isDraft: false });
  const forgeries: readonly (readonly [string, (tenantId: string) => unknown])[] = [
    ['savePayment', (tenantId) => runOf(tenantId, payment())],
    ['createAccount', (tenantId) => runOf(tenantId, flow(onboarding))],
    ['deleteAccount', (tenantId) => runOf(tenantId, flow({ id: accountId }))],
    ['approveAccount', (tenantId) => runOf(tenantId, flow({ ID_Account: accountId }))],
    ['createService', (tenantId) => runOf(tenantId, flow({ name: 'Forged' }))],
    ['runBilling', (tenantId) => runOf(tenantId, { ...period, dryRun: false })],
    ['erasePerson', (tenantId) => runOf(tenantId, { accountId })],
    ['auditUsage', (tenantId) => runOf(tenantId, { ...period, samplePercent: 100 })],
    ['scheduleBilling', (tenantId) => ({ tenantId, every: 'Monthly' })],
    ['scheduleUsageAudit', (tenantId) => ({ tenantId, every: 'Monthly' })],
    ['rateUsage', usageRange],
    ['retryUsage', (tenantId) => ({ tenantId, actor: 'chief-executive', filter: {} })],
    [
      'deliverWebhook',
      (tenantId) => ({
        tenantId,
        webhookId: randomUUID(),
        deliveryId: randomUUID(),
        round: 1,
        number: 1,
        delaysMs: [0, 0],
      }),
    ],
  ];
  for (const [type, inputOf] of forgeries) {
    it(`writes nothing, fails and is logged: ${type}`, async () => {
      const before = await rowsOf(victim);
      const workflowId = `${victim.id}/forged/${type}`;
      const failure = await failureOf({ type, workflowId, input: inputOf(victim.id) });
      expect(failure).to.include('was not started by this installation');
      expect(await rowsOf(victim)).to.equal(before);
      expect(refusals(workflowId)).to.not.deep.equal([]);
    });
  }

  /** The signature, place and input of a flow that a tenant has had carried out. */
  const ownFlow = async () => {
    const path = `${external}/run/billing/payment/create`;
    const body = {
      account_id: 'own',
      amount: 1,
      currency_id: 'USD',
      payment_date: '2026-01-01',
      payment_method: 'Cash',
      payment_reference: `own-${randomUUID()}`,
    };
    await attacker.post(path, body).expect(200);
    const workflowId = `${attacker.id}/payment/${body.payment_reference}`;
    const handle = instance.platform.temporal.waiter.workflow.getHandle(workflowId);
    await handle.result();
    const { memo = {} } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const run = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as { input: object };
    return { type: 'savePayment', workflowId, memo, run };
  };

  it('with the signature of an own flow is refused for another tenant, actor or amount', async () => {
    const before = await rowsOf(victim);
    const { run, ...own } = await ownFlow();
    expect(own.memo[signatureMemo]).to.be.a('string');
    for (const change of [
      { tenantId: victim.id },
      { actor: 'chief-executive' },
      { input: { ...run.input, amount: 1_000_000 } },
      { executionId: randomUUID() },
    ]) {
      const failure = await failureOf({ ...own, input: { ...run, ...change } });
      expect(failure, JSON.stringify(change)).to.include('was not started by this installation');
    }
    const elsewhere = { ...own, workflowId: `${victim.id}/payment/x`, input: run };
    expect(await failureOf(elsewhere)).to.include('was not started by this installation');
    expect(await rowsOf(victim)).to.equal(before);
  });

  it('cannot show a signed input and have another one carried out', async () => {
    const serviceId = await createService(attacker, 'Calls');
    await send(attacker, usage('own', serviceId));
    await waitUntilRated(attacker, 1);
    const query = `TaskQueue = "${instance.platform.temporal.taskQueue}" and TenantId = "${attacker.id}" and WorkflowType = "rateUsage"`;
    let found: { workflowId: string; memo?: Record<string, unknown> | undefined } | undefined;
    await until(
      async () => {
        for await (const info of instance.platform.temporal.waiter.workflow.list({ query }))
          found = info;
        return found !== undefined;
      },
      30_000,
      'the workflow in the list',
    );
    const { workflowId = '', memo = {} } = found ?? {};
    await instance.platform.temporal.waiter.workflow.getHandle(workflowId).result();
    const [, , partition, firstOffset] = /^(.*)\/usage\/(\d+)\/(\d+)$/.exec(workflowId) ?? [];
    const run = {
      tenantId: attacker.id,
      partition: Number(partition),
      firstOffset: Number(firstOffset),
      endOffset: Number(firstOffset) + 1,
    };
    const before = await rowsOf(victim);
    const input = { ...run, tenantId: victim.id, run };
    expect(await failureOf({ type: 'rateUsage', workflowId, memo, input })).to.include(
      'was not started by this installation',
    );
    expect(await rowsOf(victim)).to.equal(before);
  });

  it('leaves no execution in a tenant when it is terminated, and stops nobody who looks for ends', async () => {
    const executionId = randomUUID();
    const keyword = (name: string) => defineSearchAttributeKey(name, 'KEYWORD');
    const forged = async (memo: Record<string, unknown>) => {
      const handle = await client.workflow.start('nothing of this name', {
        workflowId: `${victim.id}/forged/${randomUUID()}`,
        taskQueue: instance.platform.temporal.taskQueue,
        memo,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: keyword('TenantId'), value: victim.id },
          { key: keyword('Actor'), value: 'chief-executive' },
        ]),
      });
      await handle.terminate();
      return handle.workflowId;
    };
    const unsigned = await forged({ executionId });
    const { memo } = await ownFlow();
    const copied = await forged({ ...memo, executionId });
    await until(
      () => Promise.resolve([unsigned, copied].every((id) => refusals(id).length === 1)),
      20_000,
      'both refusals',
    );
    const { rows } = await victim.scope.db.read.raw<{ rows: object[] }>(
      'select id from execution where id = ?',
      [executionId],
    );
    expect(rows).to.deep.equal([]);
  });

  it('is let pass without a signature until a stated instant, and never with a wrong one', async () => {
    const lenient = await openTestInstance({
      withWorkers: true,
      unsignedUntil: new Date(Date.now() + 3_600_000),
    });
    try {
      const tenant = await lenient.tenant();
      const { taskQueue } = lenient.platform.temporal;
      const of = (memo: Record<string, unknown>) =>
        client.workflow.execute('createService', {
          workflowId: `${tenant.id}/service/${randomUUID()}`,
          taskQueue,
          memo,
          args: [runOf(tenant.id, flow({ name: `S ${randomUUID()}` }))],
        });
      expect(await of({})).to.have.property('id');
      const wrong: unknown = await of({ [signatureMemo]: 'x.y' }).catch((error: unknown) => error);
      expect(wrong).to.be.instanceOf(WorkflowFailedError);
    } finally {
      await lenient.close();
    }
  });
});
