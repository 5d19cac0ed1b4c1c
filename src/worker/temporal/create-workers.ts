import { Worker, type ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Activities } from '../../activities/index.js';
import { definitionQueue } from '../../messages/definitions/definition-run.js';
import { webhookQueue } from '../../messages/webhook.js';
import { authenticateActivities } from '../../platform/temporal/authenticate-activities.js';
import { traceActivities, traceSinks } from '../../platform/temporal/workflow-tracing.js';
import type { Platform } from '../../process/platform.js';
import { notifyChanges } from './notify-changes.js';
import { loadWorkflowBundle } from '../workflow-bundle.js';

/**
 * Maximum concurrent workflow tasks of this process. A flow occupies a slot until its step is done,
 * and an eager start needs a free one (docs/decisions/0161); polls occupy some.
 */
const workflowTasksMax = 200;
/**
 * Flows cached in this process: as many as can be under way. Left out, it is 2,400 of a heap of 4 GiB: what flows
 * that wait have in memory is given back only when others come.
 */
const workflowsCachedMax = workflowTasksMax;

/** Maximum concurrent attempts of this process to deliver webhooks. */
const webhookAttemptsMax = 400;
/** Maximum concurrent workflow tasks of deliveries; they are short. */
const webhookTasksMax = 10;
/** Delivery workflows cached between their attempts; others are replayed from their history. */
const webhooksCachedMax = 200;

/** Maximum concurrent calls of tenants' definitions in this process. */
const definitionCallsMax = 40;
/**
 * And their workflow tasks: enough to keep their one thread at work while others of them wait for the database.
 * With twenty, turns of the event loop grew, and fewer were done (docs/decisions/0413).
 */
const definitionTasksMax = 6;
/** Definitions cached between their tasks: one that waits costs Temporal's memory, not ours. */
const definitionsCachedMax = 100;

interface WorkerParts {
  readonly activities: Activities;
  readonly activityInterceptors: readonly ActivityInterceptorsFactory[];
}

/** The workers of this process: of the product, of deliveries to webhooks, and of tenants' definitions. */
export async function createWorkers(
  { temporal, log, tracing, changes }: Platform,
  { activities, activityInterceptors }: WorkerParts,
): Promise<Worker[]> {
  const common = {
    connection: temporal.native,
    namespace: temporal.namespace,
    dataConverter: temporal.dataConverter,
    activities,
    interceptors: {
      activity: [
        ...(tracing ? [traceActivities(tracing)] : []),
        authenticateActivities(temporal.signer, log),
        ...activityInterceptors,
        notifyChanges(changes),
      ],
    },
    sinks: traceSinks(tracing),
    shutdownGraceTime: 10_000,
  };
  const workflowBundle = await loadWorkflowBundle(log, temporal.dataConverter.failureConverterPath);
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue: temporal.taskQueue,
      workflowBundle,
      maxConcurrentWorkflowTaskExecutions: workflowTasksMax,
      maxConcurrentLocalActivityExecutions: workflowTasksMax,
      maxCachedWorkflows: workflowsCachedMax,
    }),
    Worker.create({
      ...common,
      taskQueue: webhookQueue(temporal.taskQueue),
      workflowBundle,
      maxConcurrentActivityTaskExecutions: webhookAttemptsMax,
      maxConcurrentWorkflowTaskExecutions: webhookTasksMax,
      maxCachedWorkflows: webhooksCachedMax,
    }),
    Worker.create({
      ...common,
      taskQueue: definitionQueue(temporal.taskQueue),
      workflowBundle,
      maxConcurrentActivityTaskExecutions: definitionCallsMax,
      maxConcurrentWorkflowTaskExecutions: definitionTasksMax,
      maxCachedWorkflows: definitionsCachedMax,
    }),
  ]);
}
