/** The product in a process of its own, as `npm start` runs it, plus a worker for the floor. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { startApi } from '../src/api/main.js';
import { openPlatform } from '../src/process/platform.js';
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
}

const setup = JSON.parse(process.env['BENCH_SETUP'] ?? '{}') as ProductSetup;
const platform = await openPlatform(
  {
    databasePoolMax: 20,
    ingestTimeoutMs: 10_000,
    flowTimeoutMs: 30_000,
    logLevel: 'error',
    publicUrl: 'http://localhost',
    host: '127.0.0.1',
    webhooks: { allowsPrivateAddresses: true },
    port: setup.port,
    secret: Buffer.from(setup.secret, 'base64'),
  },
  setup,
);
let workers: RunningWorkers | undefined;
if (setup.withWorkers) workers = await startWorkers(platform);
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

serve(
  {
    emptyWorkflow: measureEmptyWorkflow,
    token: ({ tenantId }: { tenantId: string }) =>
      platform.tokens.issue({
        tenantId,
        orgId: 'bench',
        roles: ['ADMIN'],
        subject: 'bench',
        expiresInSeconds: 36_000,
      }),
    /** Bytes that the process holds. */
    memory: () => Promise.resolve(process.memoryUsage.rss()),
    startWorkers: async () => {
      workers ??= await startWorkers(platform);
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
