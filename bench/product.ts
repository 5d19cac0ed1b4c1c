/** The product in a process of its own, as `npm start` runs it, plus a worker for the floor. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { startApi } from '../src/api/main.js';
import { openPlatform } from '../src/platform/platform.js';
import type { TemporalAddress } from '../src/platform/temporal.js';
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
    port: setup.port,
    secret: Buffer.from(setup.secret, 'base64'),
  },
  setup,
);
let workers: RunningWorkers | undefined;
if (setup.withWorkers) workers = await startWorkers(platform);
const api = await startApi(platform);

/** p50 in milliseconds of a workflow that does nothing, started eagerly and waited for. */
async function measureEmptyWorkflow({ count }: { count: number }): Promise<number> {
  const taskQueue = 'bench-floor';
  const worker = await Worker.create({
    connection: platform.temporal.native,
    namespace: platform.temporal.namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
  });
  const running = worker.run();
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const workflowId = `bench-floor-${process.pid}-${index}`;
    const since = performance.now();
    await platform.temporal.starter.workflow.start('doNothing', {
      ...{ taskQueue, workflowId, requestEagerStart: true },
    });
    await platform.temporal.waiter.workflow.getHandle(workflowId).result();
    times.push(performance.now() - since);
  }
  worker.shutdown();
  await running;
  return median(times.slice(Math.floor(count / 10)));
}

serve(
  {
    emptyWorkflow: measureEmptyWorkflow,
    token: ({ tenantId }: { tenantId: string }) =>
      platform.tokens.issue({
        ...{ tenantId, orgId: 'bench', roles: ['ADMIN'], subject: 'bench' },
        expiresInSeconds: 36_000,
      }),
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
