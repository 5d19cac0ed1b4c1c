/** The product in a process of its own, as `npm start` runs it, plus a worker for the floor. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { ensureTenantIn, requireCell } from '../src/access/cells/tenant-cells.js';
import { setTenantPlan } from '../src/access/tenants.js';
import { projectUsage } from '../src/activities/usage/project-usage.js';
import { definitionActivities } from '../src/activities/workflows/definition.js';
import { publishGroup } from '../src/adapters/usage-log/postgres-publisher.js';
import { startApi } from '../src/api/main.js';
import { openOperationCaller } from '../src/api/operation-caller.js';
import { readTenantMove, startTenantMove } from '../src/flows/cells/tenant-move.js';
import { defined } from '../src/kernel/defined.js';
import type { UsageMessage } from '../src/messages/broker.js';
import { openPlatform, type CellServer } from '../src/process/platform.js';
import type { TemporalAddress } from '../src/platform/temporal/temporal.js';
import { startWorkers, type RunningWorkers } from '../src/worker/main.js';
import { serve } from './processes.js';
import { median } from './load.js';

interface ProductSetup {
  readonly databaseUrl: string;
  readonly temporal: TemporalAddress;
  readonly secret: string;
  readonly port: number;
  readonly withWorkers: boolean;
  readonly taskQueue?: string;
  /** The servers beside the database, each with its owner's login. */
  readonly cells?: readonly CellServer[];
}

const setup = JSON.parse(process.env['BENCH_SETUP'] ?? '{}') as ProductSetup;
const platform = await openPlatform(
  {
    databasePoolMax: 20,
    ingestTimeoutMs: 10_000,
    flowTimeoutMs: 30_000,
    logLevel: 'error',
    publicUrl: `http://localhost:${setup.port}`,
    host: '127.0.0.1',
    webhooks: { allowsPrivateAddresses: true },
    port: setup.port,
    secret: Buffer.from(setup.secret, 'base64'),
    ...defined({ taskQueue: setup.taskQueue }),
  },
  {
    ...setup,
    owners: new Map([
      ['home', setup.databaseUrl],
      ...(setup.cells ?? []).map(({ name, url }) => [name, url] as const),
    ]),
  },
);
let workers: RunningWorkers | undefined;
if (setup.withWorkers) workers = await startProduct();
const api = await startApi(platform);

/** Workflows that do nothing, started eagerly and waited for, by so many callers at once. */
async function measureEmptyWorkflow({ count, callers }: { count: number; callers: number }) {
  const taskQueue = 'bench-floor';
  const worker = await Worker.create({
    connection: platform.temporal.native,
    namespace: platform.temporal.namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  });
  const running = worker.run();
  const times: number[] = [];
  let next = 0;
  let started = 0;
  const run = Date.now();
  const call = async (): Promise<void> => {
    while (next < count) {
      const workflowId = `bench-floor-${run}-${(started += 1)}`;
      next += 1;
      const since = performance.now();
      await platform.temporal.starter.workflow.start('doNothing', {
        taskQueue,
        workflowId,
        requestEagerStart: true,
      });
      await platform.temporal.waiter.workflow.getHandle(workflowId).result();
      times.push(performance.now() - since);
    }
  };
  // The first ones warm up.
  for (next = count - Math.ceil(count / 10); next < count;) await call();
  times.length = 0;
  next = 0;
  const since = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = times.length / ((performance.now() - since) / 1000);
  worker.shutdown();
  await running;
  return { p50: median(times), perSecond };
}

/** Milliseconds of one call in a workflow written in TypeScript, whose worker has the product's step. */
async function measureCallsInTurn({
  tenantId,
  definitionId,
  calls,
  given,
  samples,
}: {
  readonly tenantId: string;
  readonly definitionId: string;
  readonly calls: number;
  readonly given: object;
  readonly samples: number;
}): Promise<number> {
  const taskQueue = 'bench-calls';
  const { callTask } = definitionActivities(platform, openOperationCaller(platform));
  const worker = await Worker.create({
    connection: platform.temporal.native,
    namespace: platform.temporal.namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    activities: { callTask },
  });
  const running = worker.run();
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const executionId = randomUUID();
    const input = { definitionId, version: 1, start: {}, depth: 1 };
    const run = { executionId, tenantId, orgId: null, actor: 'bench', requestId: 'bench', input };
    const since = performance.now();
    const started = { taskQueue, workflowId: executionId, args: [{ run, calls, given }] };
    await platform.temporal.waiter.workflow.execute('callInTurn', started);
    times.push((performance.now() - since) / calls);
  }
  worker.shutdown();
  await running;
  return median(times);
}

function startProduct(): Promise<RunningWorkers> {
  return startWorkers(platform, { callOperation: openOperationCaller(platform) });
}

const issue = (tenantId: string): Promise<string> =>
  platform.tokens.issue({
    tenantId,
    orgId: 'bench',
    roles: ['ADMIN'],
    subject: 'bench',
    expiresInSeconds: 36_000,
  });

serve(
  {
    callInTurn: measureCallsInTurn,
    emptyWorkflow: measureEmptyWorkflow,
    token: ({ tenantId }: { tenantId: string }) => issue(tenantId),
    /** A tenant of a cell; its token. */
    makeTenant: async ({ tenantId, cell }: { tenantId: string; cell: string }) => {
      const { database } = platform;
      await ensureTenantIn(database, requireCell(database, cell), { id: tenantId });
      return issue(tenantId);
    },
    move: async ({ tenantId, to }: { tenantId: string; to: string }) => {
      const { starter, taskQueue, signer } = platform.temporal;
      const place = { client: starter, taskQueue, signer };
      await startTenantMove(place, { tenantId, to, graceMs: 60_000 });
    },
    moveProgress: ({ tenantId }: { tenantId: string }) =>
      readTenantMove(platform.temporal.waiter, tenantId),
    /** Lets a tenant execute as often as it likes. */
    allowRequests: async ({ tenantId }: { tenantId: string }) => {
      await setTenantPlan(platform.database.platform, tenantId, 'enterprise', 1_000_000);
    },
    /** Publishes messages at one instant; says when. */
    publish: async ({ messages }: { messages: readonly UsageMessage[] }) => {
      await publishGroup(platform.database.home.platform, messages);
      return Date.now();
    },
    /** Adds up at once what rating has left to be added. */
    project: async ({ tenantId }: { tenantId: string }) => {
      while (await projectUsage(platform, tenantId));
    },
    /** What the process has used of processors. */
    processorSeconds: () => {
      const { user, system } = process.cpuUsage();
      return Promise.resolve((user + system) / 1_000_000);
    },
    /** Bytes that the process holds. */
    memory: () => Promise.resolve(process.memoryUsage.rss()),
    startWorkers: async () => {
      workers ??= await startProduct();
    },
    stopWorkers: async () => {
      await workers?.drain();
      workers = undefined;
    },
  },
  async () => {
    await api.close();
    await workers?.drain();
    await platform.close();
  },
);
