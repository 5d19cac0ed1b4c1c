/**
 * Writes the histories that `replay.test.ts` replays and that are not there yet: npm run
 * record-histories. Those of an older release stay, so that its running workflows are known to go on;
 * `npm run record-histories -- 2` writes all of them for the release 2.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApplicationFailure } from '@temporalio/common';
import { awayFailureType } from '../../src/messages/flow-run.js';
import { signatureMemo } from '../../src/messages/workflow-signature.js';
import { flowList, flows } from '../../src/schemas/flows/index.js';
import { startWorkers } from '../../src/worker/main.js';
import { executeRun, fiveAccounts, smallSizes } from '../support/billing/billing-run.js';
import { makeRecords, starts } from '../support/billing/flow-starts.js';
import { setBillingSchedule } from '../../src/flows/billing/billing-schedule.js';
import { setTenantClock } from '../../src/models/sandbox/sandbox-clock.js';
import {
  startUsageArchive,
  startUsageDrop,
  startUsageRestore,
} from '../../src/flows/ageing/usage-archive.js';
import { usageArchiveId } from '../../src/messages/ageing/usage-archive.js';
import { usageDropId, usageRestoreId } from '../../src/messages/ageing/usage-drop.js';
import { startTenantMove } from '../../src/flows/cells/tenant-move.js';
import { tenantMoveId } from '../../src/messages/cells/tenant-move.js';
import { createTestCell } from '../support/servers/cells.js';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { external, openTestInstance } from '../support/servers/instance.js';
import { ok, openReceiver, waitUntilDelivered } from '../support/servers/receiver.js';
import { stopTestServers } from '../support/servers/servers.js';
import { writeHistory } from './history-file.js';
import { recordDefinitions } from './record-definitions.js';
import {
  createAccount,
  createService,
  event,
  rate,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

const release = process.argv[2] ?? '1';

const folder = await mkdtemp(join(tmpdir(), 'durabill-archive-'));
const instance = await openTestInstance({
  webhooks: { delaysMs: [0, 100, 200] },
  archive: {
    url: pathToFileURL(folder).href,
    s3: { endpoint: undefined, region: undefined, credentials: undefined },
  },
});
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

async function keep(name: string, history: object): Promise<void> {
  if (await writeHistory(`${name}.${release}`, history)) console.log(name);
}

async function record(name: string, workflowId: string): Promise<void> {
  const handle = temporal.waiter.workflow.getHandle(workflowId);
  await handle.result();
  await keep(name, await handle.fetchHistory());
}

const tenant = await instance.tenant();
const serviceId = await createService(tenant, 'Calls');
await createAccount(tenant, 'acme');
const rated = await rate(tenant, usage('acme', serviceId));
await record('rate-usage', rated.workflowId as string);

failuresLeft = 4;
const delayed = await rate(tenant, usage('acme', serviceId));
await record('rate-usage-after-failures', delayed.workflowId as string);

const archived = { tenantId: tenant.id, month: '2026-01' };
await startUsageArchive({ ...temporal, client: temporal.starter }, archived);
await record('archive-usage', usageArchiveId(archived));
const dropped = { ...archived, tenants: [tenant.id] };
await startUsageDrop({ ...temporal, client: temporal.starter }, dropped);
await record('drop-usage', usageDropId(dropped));
await startUsageRestore({ ...temporal, client: temporal.starter }, archived);
await record('restore-usage', usageRestoreId(archived));

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

const reason = 'Sent in the wrong unit.';
failuresLeft = 4;
const message = usage('acme', serviceId, { externalTransactionId: undefined });
const mended = await tenant
  .post(`/v1/usage-events/${delayed.id as string}/amend`, { message, reason })
  .expect(200);
await record('amend-usage-event', await workflowIdOf(tenant, mended.body.executionId));
failuresLeft = 4;
const gone = await tenant
  .post(`/v1/usage-events/${delayed.id as string}/cancel`, { reason })
  .expect(200);
await record('cancel-usage-event', await workflowIdOf(tenant, gone.body.executionId));
await rate(tenant, usage('nobody', serviceId));
failuresLeft = 4;
const dismissal = await tenant.post('/v1/usage-events/dismiss', { reason }).expect(200);
await record('dismiss-usage-events', await workflowIdOf(tenant, dismissal.body.executionId));
failuresLeft = 4;
const { body: rerated } = await tenant
  .post('/v1/workflows/rerate-usage/execute', {
    data: { from: '2026-03-01', to: '2026-04-01', reason },
  })
  .expect(200);
await record('rerate-usage', await workflowIdOf(tenant, rerated.executionId));
failuresLeft = 4;
const { body: repriced } = await tenant
  .post('/v1/workflows/reprice/execute', {
    data: {
      name: 'More usage',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'usage', factor: 2 }],
    },
  })
  .expect(200);
await record('reprice', await workflowIdOf(tenant, repriced.executionId));
const rows = [
  { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 0.02 },
];
const { body: priced } = await tenant
  .post('/v1/workflows/reprice/execute', {
    data: {
      name: 'Calls at two cents',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'rateCard', serviceId, currency: 'USD', rows }],
    },
  })
  .expect(200);
failuresLeft = 4;
const { body: promoted } = await tenant
  .post(`/v1/repricings/${priced.output.repricingId}/promote`, { fromDate: '2041-01-01' })
  .expect(200);
await record('promote-repricing', await workflowIdOf(tenant, promoted.executionId));

/** One of each flow, on records of its own, and one that waited for its database. */
const flow = async (name: string, slug: string, start: object): Promise<void> => {
  const { body } = await tenant.post(`${external}/run/${slug}`, start).expect(200);
  await record(name, await workflowIdOf(tenant, body.flowExecutionId));
};
const make = async (path: string, body: object): Promise<string> =>
  (await tenant.post(`${external}${path}`, body).expect(201)).body.id;
for (const [workflow, { slug }] of flowList) {
  const start = starts[workflow](await makeRecords(make, `-${workflow}`));
  await flow(slug.replace('billing/', '').replace('/', '-'), slug, start);
}
const second = starts.createAccount(await makeRecords(make, '-second'));
failuresLeft = 5;
await flow('account-create-after-failures', flows.createAccount.slug, second);

/** A flow for two start nodes, one of them refused, that waited for its database. */
const third = starts.createAccount(await makeRecords(make, '-third'));
failuresLeft = 5;
await tenant
  .post(`${external}/run/${flows.createAccount.slug}/batch`, { data: [third, third] })
  .expect(200);
const { body: batches } = await tenant.get('/v1/workflows/flow-batch/executions').expect(200);
await record('flow-batch', await workflowIdOf(tenant, batches.data[0].executionId));

/** A billing run that waited for its database, and that of nothing. */
const billingRun = async (name: string, data: object) => {
  const { body } = await tenant.post('/v1/workflows/billing-run/execute', { data }).expect(200);
  await record(name, await workflowIdOf(tenant, body.executionId));
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

/** A credit of one of its invoices. */
const { body: posted } = await tenant.get(`${external}/invoices?size=1`).expect(200);
failuresLeft = 4;
const credit = { invoiceId: posted.data.content[0].Id as string, reason: 'The wrong price.' };
const credited = await tenant
  .post('/v1/workflows/credit-invoice/execute', { data: credit })
  .expect(200);
await record('credit-invoice', await workflowIdOf(tenant, credited.body.executionId));

/** An approval that waited for its database. */
const waitingId = await createAccount(tenant, 'waiting');
failuresLeft = 4;
await tenant.post(`/v1/approvals/${waitingId}`, { decision: 'approve', reason }).expect(200);
const { body: decided } = await tenant.get('/v1/workflows/decide-approval/executions').expect(200);
await record('decide-approval', await workflowIdOf(tenant, decided.data[0].executionId));

/** An audit that waited for its database, and one by its schedule. */
failuresLeft = 5;
const audited = await tenant
  .post('/v1/workflows/audit-usage/execute', {
    data: { periodStart: '2026-03-01', periodEnd: '2026-03-31' },
  })
  .expect(200);
await record('audit-usage', await workflowIdOf(tenant, audited.body.executionId));
const scheduledAudit = `${tenant.id}/audit-schedule`;
await startSigned('scheduleUsageAudit', scheduledAudit);
await record('audit-schedule', scheduledAudit);

/** An erasure that waited for its database. */
const formerId = await createAccount(tenant, 'former');
await tenant.put(`${external}/accounts/${formerId}/deactivate`).expect(200);
failuresLeft = 5;
const erased = await tenant
  .post('/v1/workflows/erase-person/execute', { data: { accountId: formerId } })
  .expect(200);
await record('erase-person', await workflowIdOf(tenant, erased.body.executionId));

/** The clock of a sandbox, which waited for its database and started a billing run and an audit. */
const sandbox = await instance.tenant();
await setTenantClock(instance.platform.database.platform, sandbox.id, new Date('2027-01-15'));
for (const job of ['billing', 'audit'] as const) {
  const every = { tenantId: sandbox.id, every: 'Monthly', hour: 2, isSandbox: true } as const;
  await setBillingSchedule({ ...temporal, client: temporal.waiter }, every, job);
}
failuresLeft = 5;
const clock = await sandbox.post('/v1/clock', { now: '2027-02-15' }).expect(200);
await record('move-clock', await workflowIdOf(sandbox, clock.body.executionId));

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
  await keep(`billing-run-continued-${index + 1}`, history);
}
await small.close();

const celled = await openTestInstance({ withWorkers: true, cells: [await createTestCell('eu1')] });
const moved = await celled.tenant();
const server = celled.platform.temporal;
const move = { tenantId: moved.id, to: 'eu1', graceMs: 100 };
await startTenantMove({ ...server, client: server.starter }, move);
await server.waiter.workflow.getHandle(tenantMoveId(moved.id)).result();
for (const history of await historiesOf(server.waiter, tenantMoveId(moved.id))) {
  await keep('move-tenant', history);
}
await celled.close();
await recordDefinitions(keep);
await stopTestServers();
await rm(folder, { recursive: true });
process.exit(0);
