import { Worker, type ActivityInterceptorsFactory } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import type { UsageRange } from '../kernel/usage-workflow.js';
import type { Platform } from '../platform/platform.js';
import { ExecutionWatch } from './execution-watch.js';
import { UsageConsumer } from './usage-consumer.js';
import { loadWorkflowBundle } from './workflow-bundle.js';

export interface RunningWorkers {
  /** Finishes what is under way and stops. */
  drain(): Promise<void>;
}

export interface WorkerOptions {
  /** Around every activity; tests make steps fail with them. */
  readonly activityInterceptors?: readonly ActivityInterceptorsFactory[];
}

/** Runs the workflows and activities of this process, and rates the usage that arrives. */
export async function startWorkers(
  platform: Platform,
  { activityInterceptors = [] }: WorkerOptions = {},
): Promise<RunningWorkers> {
  const { temporal, log, health } = platform;
  const rated = { tell: (_range: UsageRange): void => undefined };
  const worker = await Worker.create({
    connection: temporal.native,
    namespace: temporal.namespace,
    taskQueue: temporal.taskQueue,
    workflowBundle: await loadWorkflowBundle(log),
    activities: createActivities(platform, { onRated: (range) => rated.tell(range) }),
    interceptors: { activity: [...activityInterceptors] },
    shutdownGraceTime: '10 s',
  });
  const running = worker.run().catch((error: unknown) => {
    log.error({ err: error }, 'the worker has failed');
  });
  health.areWorkersRunning = true;
  void running.then(() => {
    health.areWorkersRunning = false;
  });
  const watch = new ExecutionWatch(platform);
  const consumer = new UsageConsumer(platform);
  rated.tell = consumer.onRated;
  return {
    async drain() {
      await consumer.drain();
      await watch.stop();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    },
  };
}
