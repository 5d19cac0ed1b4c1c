/**
 * Writes the histories that `replay.test.ts` replays: npm run record-histories. Histories of an older
 * release stay, so that its running workflows are known to go on; new ones get names of their own.
 */
import { ApplicationFailure } from '@temporalio/common';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { signatureMemo } from '../../src/messages/workflow-signature.js';
import { startWorkers } from '../../src/worker/main.js';
import { executeRun, fiveAccounts, smallSizes } from '../support/billing/billing-run.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { external, openTestInstance } from '../support/servers/instance.js';
import { ok, openReceiver, waitUntilDelivered } from '../support/servers/receiver.js';
import { stopTestServers } from '../support/servers/servers.js';
import { writeHistory } from './history-file.js';
import {
  createAccount,
  createService,
  event,
  rate,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const release = process.argv[2] ?? '1';

const instance = await openTestInstance({ webhooks: { delaysMs: [0, 100, 200] } });
const { temporal } = instance.platform;

/** The first steps fail, as they do when the database is away, so that timers are in the history. */
let failuresLeft = 0;
const workers = await startWorkers(instance.platform, {
  activityInterceptors: [
    () => ({
      inbound: {
        execute(input, next): Promise<unknown> {
          if (failuresLeft === 0) return next(input);
          failuresLeft -= 1;
          return Promise.reject(
            ApplicationFailure.retryable('The database does not answer.', awayFailureType),
          );
        },
      },
    }),
  ],
});

async function record(name: string, workflowId: string): Promise<void> {
  const handle = temporal.waiter.workflow.getHandle(workflowId);
  await handle.result();
  await writeHistory(`${name}.${release}`, await handle.fetchHistory());
  console.log(name);
}

const tenant = await instance.tenant();
const serviceId = await createService(tenant, 'Calls');
await createAccount(tenant, 'acme');
const rated = await rate(tenant, usage('acme', serviceId));
await record('rate-usage', rated.workflowId as string);

failuresLeft = 4;
const delayed = await rate(tenant, usage('acme', serviceId));
await record('rate-usage-after-failures', delayed.workflowId as string);

const rejected = await rate(tenant, usage('late', serviceId));
const messages = Array.from({ length: 600 }, () => ({ message: usage('late', serviceId) }));
await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
await waitUntilRated(tenant, 603);
await createAccount(tenant, 'late');
await tenant.post(`/v1/usage-events/${rejected.id as string}/retry`).expect(200);
const retried = await event(tenant, rejected.id as string);
await record('retry-usage', retried.workflowId as string);

failuresLeft = 3;
await tenant.post('/v1/usage-events/retry', {}).expect(200);
const last = await event(tenant, String(messages[0]?.message.externalTransactionId));
await record('retry-usage-in-pages', last.workflowId as string);

/** One of each flow, and one that waited for its database. */
const run = `${external}/run/billing`;
const flow = async (slug: string, body: object, name = slug) => {
  const { body: answer } = await tenant.post(`${run}/${slug}`, body).expect(200);
  const executions = await tenant.scope.db.read.raw<{ rows: { place: string }[] }>(
    'select workflow_id as place from execution where id = ?',
    [answer.flowExecutionId],
  );
  await record(name.replace('/', '-'), executions.rows[0]?.place ?? '');
  return answer.output as { readonly id: string };
};
const onboarding = (ExternalId: string) => ({
  Company_Name: 'Acme',
  First_Name: 'A',
  Last_Name: 'B',
  Line1: 'L',
  City: 'C',
  State: 'S',
  Country: 'US',
  Currency: 'USD',
  Zip_Code: '1',
  ExternalId,
});
const account = await flow('account/create', onboarding('first'));
await flow('account/edit', { id: account.id, name: 'Changed' });
await flow('account/approve', { ID_Account: account.id });
const payment = await flow('payment/create', {
  account_id: 'first',
  amount: 1,
  currency_id: 'USD',
  payment_date: '2026-01-01',
  payment_method: 'Cash',
  payment_reference: 'P-1',
});
await flow('payment/edit', { id: payment.id, amount: 2 });
await flow('payment/delete', { id: payment.id });
const contract = await flow('contract/create', { name: 'C', master_account_id: 'first' });
await flow('contract/edit', { id: contract.id, total_price: 5 });
await flow('contract/approve', { ID_Contract: contract.id });
await flow('contract/delete', { id: contract.id });
await flow('account/delete', { id: account.id });
const service = await flow('service/create', { name: 'S' });
await flow('service/edit', { id: service.id, label: 'L' });
await flow('service/approve', { ID_Service: service.id });
await flow('service/clone', { Service_ID: service.id });
await flow('service/delete', { id: service.id });
failuresLeft = 5;
await flow('account/create', onboarding('second'), 'account-create-after-failures');

/** A billing run that waited for its database, and that of nothing. */
const billingRun = async (name: string, data: object) => {
  const { body } = await tenant.post('/v1/workflows/billing-run/execute', { data }).expect(200);
  const executions = await tenant.scope.db.read.raw<{ rows: { place: string }[] }>(
    'select workflow_id as place from execution where id = ?',
    [body.executionId],
  );
  await record(name, executions.rows[0]?.place ?? '');
};
/** As a schedule starts it. */
async function startSigned(type: string, workflowId: string): Promise<void> {
  const input = { tenantId: tenant.id, every: 'Monthly' };
  await temporal.waiter.workflow.start(type, {
    workflowId,
    taskQueue: temporal.taskQueue,
    args: [input],
    memo: { [signatureMemo]: temporal.signer.sign({ type, workflowId, input }) },
  });
}
failuresLeft = 8;
await billingRun('billing-run', { periodStart: '2026-03-01', periodEnd: '2026-03-31' });
const scheduled = `${tenant.id}/billing-schedule`;
await startSigned('scheduleBilling', scheduled);
await record('billing-schedule', scheduled);
await billingRun('billing-run-dry', {
  periodStart: '2026-03-01',
  periodEnd: '2026-03-31',
  dryRun: true,
});

/** An audit that waited for its database, and one by its schedule. */
failuresLeft = 5;
const audited = await tenant
  .post('/v1/workflows/audit-usage/execute', {
    data: { periodStart: '2026-03-01', periodEnd: '2026-03-31' },
  })
  .expect(200);
const audits = await tenant.scope.db.read.raw<{ rows: { place: string }[] }>(
  'select workflow_id as place from execution where id = ?',
  [audited.body.executionId],
);
await record('audit-usage', audits.rows[0]?.place ?? '');
const scheduledAudit = `${tenant.id}/audit-schedule`;
await startSigned('scheduleUsageAudit', scheduledAudit);
await record('audit-schedule', scheduledAudit);

/** A delivery that succeeds at the third attempt, and one that none does. */
const receiver = await openReceiver();
receiver.answer = (delivery, response) => {
  if (receiver.received.length > 2) ok(delivery, response);
  else response.writeHead(500).end();
};
const webhook = await tenant
  .post('/v1/webhooks', { url: receiver.url, events: ['mdata.created'], secret: 'any text' })
  .expect(201);
const webhookId = webhook.body.id as string;
const test = await tenant.post(`/v1/webhooks/${webhookId}/test`).expect(200);
await waitUntilDelivered(tenant, webhookId);
await record('deliver-webhook', `${tenant.id}/webhook/${test.body.id as string}/1`);
receiver.answer = (_delivery, response) => void response.writeHead(500).end();
const given = await tenant.post(`/v1/webhooks/${webhookId}/test`).expect(200);
await waitUntilDelivered(tenant, webhookId);
await record('deliver-webhook-in-vain', `${tenant.id}/webhook/${given.body.id as string}/1`);
await receiver.close();

await workers.drain();
await instance.close();

/** A billing run whose accounts are three histories, and whose PDFs follow in others. */
const sizes = { ...smallSizes, renders: 2 };
const small = await openTestInstance({ billing: sizes, withWorkers: true });
const five = await small.tenant();
await fiveAccounts(five);
const continued = await executeRun(five, { periodStart: '2026-03-01', periodEnd: '2026-03-31' });
const { waiter } = small.platform.temporal;
const place = await workflowIdOf(five, continued.executionId as string);
await waiter.workflow.getHandle(place).result();
for (const [index, history] of (await historiesOf(waiter, place)).entries()) {
  await writeHistory(`billing-run-continued-${index + 1}.${release}`, history);
}
console.log('billing-run-continued');
await small.close();
await stopTestServers();
process.exit(0);
