import { AsyncResource } from 'node:async_hooks';
import type { ActivityInterceptorsFactory, Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import type { CallOperation } from '../messages/definitions/task.js';
import type { UsageRange } from '../messages/usage-workflow.js';
import type { Platform } from '../process/platform.js';
import { startCellCourier } from './cell-courier.js';
import { startAuditSealer } from './audit-sealer.js';
import { ExecutionWatch, type ExecutionWatchLimits } from './execution-watch.js';
import { startPartitionWatch } from './make-partitions-ahead.js';
import { startBalanceWatch } from './balance-watch.js';
import { startOverdueWatch } from './overdue-watch.js';
import { startRetentionWatch } from './retention-watch.js';
import { startDefinitionStarter } from './definitions/definition-starter.js';
import { startEventReader } from './definitions/event-reader.js';
import { startUndoRemover } from './definitions/undo-remover.js';
import { createWorkers } from './temporal/create-workers.js';
import { UsageConsumer } from './usage-consumer.js';
import { startUsageProjector } from './usage-projector.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';

export interface RunningWorkers {
  /** Finishes what is under way and stops. */
  drain(): Promise<void>;
  /**
   * Resolves with the reason when a worker stops unexpectedly; never otherwise. The process cannot
   * go on without it: its caller ends the process, to be restarted.
   */
  readonly failed: Promise<Error>;
}

export interface WorkerOptions {
  /** Interceptors of every activity; tests inject failures with them. */
  readonly activityInterceptors?: readonly ActivityInterceptorsFactory[];
  /** How it is looked for executions that Temporal ended, where not as usual. */
  readonly watch?: Partial<ExecutionWatchLimits>;
  /** How often it looks for invoices that have become overdue. */
  readonly overdueMs?: number;
  /** Carries out the operations that definitions of tenants call; without it their calls wait. */
  readonly callOperation?: CallOperation;
}

/** Runs the workflows and activities of this process, and rates the usage that arrives. */
export async function startWorkers(
  platform: Platform,
  options: WorkerOptions = {},
): Promise<RunningWorkers> {
  const { activityInterceptors = [], watch: watchLimits = {}, overdueMs, callOperation } = options;
  const rated = { notify: (_range: UsageRange): void => undefined };
  const delivered = { notify: (): void => undefined };
  const workers = await createWorkers(platform, {
    activityInterceptors,
    activities: createActivities(platform, {
      onRated: (range) => rated.notify(range),
      onDelivered: () => delivered.notify(),
      callOperation,
    }),
  });
  const { running, failed, stop } = runWorkers(workers, platform);
  const watches = [
    new ExecutionWatch(platform, watchLimits),
    startAuditSealer(platform),
    startCellCourier(platform),
    startBalanceWatch(platform),
    startOverdueWatch(platform, overdueMs),
    startUsageProjector(platform),
    startRetentionWatch(platform),
    startPartitionWatch(platform),
    startDefinitionStarter(platform),
    startEventReader(platform),
    startUndoRemover(platform),
  ];
  const consumer = await UsageConsumer.open(platform);
  // The callback must not run in the trace of the activity that calls it.
  rated.notify = AsyncResource.bind(consumer.onRated);
  const dispatcher = new WebhookDispatcher(platform);
  delivered.notify = AsyncResource.bind(dispatcher.wake);
  return {
    failed,
    async drain() {
      await consumer.drain();
      await dispatcher.drain();
      await Promise.all(watches.map((watch) => watch.stop()));
      stop();
      await running;
    },
  };
}

/**
 * Runs workers until they are stopped or one of them fails; then the instance is no longer ready.
 */
function runWorkers(workers: readonly Worker[], { health, log }: Platform) {
  let isStopping = false;
  let fail = (_reason: Error): void => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const ended = (error?: unknown): void => {
    health.areWorkersRunning = false;
    if (isStopping && error === undefined) return;
    const reason =
      error instanceof Error ? error : new Error('It has ended, though nobody asked it to.');
    log.error({ err: reason }, 'a worker has failed');
    fail(reason);
  };
  health.areWorkersRunning = true;
  const running = Promise.all(workers.map((worker) => worker.run().then(() => ended(), ended)));
  const stop = (): void => {
    isStopping = true;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return { running, failed, stop };
}
