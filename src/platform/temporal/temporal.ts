import { fileURLToPath } from 'node:url';
import {
  Client,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
} from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import { defined } from '../../kernel/defined.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Logger } from '../log.js';
import { freePort } from '../free-port.js';
import { listCodec, payloadCodec, type PayloadKeys } from './payload-codec.js';
import { logFromSdk } from './sdk-log.js';
import { registerSearchAttributes } from './search-attributes.js';
import { QuietConnection } from './quiet-connection.js';
import { closableRetries } from './temporal-retries.js';
import type { SecretKeys } from '../secret-box.js';
import type { Tracing } from '../tracing.js';
import { workflowSigner, type WorkflowSigner } from './workflow-signature.js';
import { traceStarts } from './workflow-tracing.js';

/** Where the Temporal server is; the shape of `Servers.temporal`. */
export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly tls: boolean;
  readonly apiKey: string | undefined;
}

/** The connections of this process to Temporal. */
export interface Temporal {
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly taskQueue: string;
  /** Where the metrics of the SDK are read from, on this machine; null: nowhere. */
  readonly metricsUrl: string | null;
  /** Whether the server finds executions by their definition. */
  readonly findsDefinitions: boolean;
  /** How the workers and clients of this process write what Temporal keeps. */
  readonly dataConverter: DataConverter;
  /** Proves that this installation has started a workflow. */
  readonly signer: WorkflowSigner;
  /** Shared by the workers and `starter`: eager starts need the same connection. */
  readonly native: NativeConnection;
  /** Starts workflows, eagerly where a worker of this process can take them. */
  readonly starter: Client;
  /** Waits for results: deadlines do not hold on the native connection. */
  readonly waiter: Client;
  /** Lists workflows and schedules, whatever others wrote into the memo of one. */
  readonly lister: Client;
  /** Called for every started workflow with its type, and whether it was an eager start. */
  readonly onStarted: (workflow: string, isEager: boolean) => void;
  ping(): Promise<void>;
  /**
   * Requests the cancellation of a run or its continuation; one that has ended is left as it is.
   */
  cancel(workflowId: string, runId: string): Promise<void>;
  close(): Promise<void>;
}

/** The problem for callers when a call to Temporal fails; the log has the cause. */
export function temporalProblem(cause: unknown): Problem {
  const away = problem.unavailable(
    'The workflow service does not answer at the moment; try again.',
  );
  away.cause = cause;
  return away;
}

/**
 * Whether a call with a deadline was ended by it: the server that reaches it first cancels the call, and
 * the client's own timer says the other thing.
 */
export const isWaitOver = (error: unknown): boolean =>
  isGrpcDeadlineError(error) || isGrpcCancelledError(error);

/** Where the SDK's lines go. The SDK takes one receiver for the life of a process. */
let sdkLog: Logger | undefined;

/**
 * Routes the SDK's log to our log, and enables its metrics if requested; must run before the first
 * native connection of this process. With several instances in one process, as in tests, the latest
 * one gets the lines. Returns the address of the metrics.
 */
export async function installRuntime(log: Logger, hasMetrics = false): Promise<string | null> {
  const isInstalled = sdkLog !== undefined;
  sdkLog = log;
  if (isInstalled) return null;
  const bindAddress = hasMetrics ? `127.0.0.1:${await freePort()}` : null;
  const logger = new DefaultLogger('INFO', (entry) => logFromSdk(sdkLog ?? log, entry));
  // The process stops its workers itself: on a signal they drain with everything else.
  const logging = { filter: makeTelemetryFilterString({ core: 'WARN' }), forward: {} };
  const metrics = bindAddress === null ? {} : { metrics: { prometheus: { bindAddress } } };
  const telemetryOptions = { logging, ...metrics };
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions });
  return bindAddress === null ? null : `http://${bindAddress}/metrics`;
}

const failureConverterPath = fileURLToPath(
  new URL(`../../workflows/runtime/failure-converter${import.meta.url.slice(-3)}`, import.meta.url),
);

/** Sealed where there are keys, else readable in Temporal's UI (docs/decisions/0142). */
export const dataConverterOf = (keys: PayloadKeys | undefined): DataConverter =>
  keys === undefined ? {} : { payloadCodecs: [payloadCodec(keys)], failureConverterPath };

/** For lists, which others write into, too. */
export const listConverterOf = (keys: PayloadKeys | undefined): DataConverter => ({
  payloadCodecs: [listCodec(keys && payloadCodec(keys))],
});

interface TemporalOptions extends Pick<Temporal, 'onStarted'> {
  readonly log: Logger;
  /** Whether the SDK counts what it does, for Prometheus. */
  readonly hasMetrics: boolean;
  readonly payloadKeys: PayloadKeys | undefined;
  /** What workflows are signed with. */
  readonly secrets: SecretKeys;
  /** Until when workflows without a signature go on; undefined: they do not. */
  readonly unsignedUntil: Date | undefined;
  readonly tracing: Tracing | undefined;
}

/** Connects to the server and registers what the workflows index. */
export async function openTemporal(
  server: TemporalAddress,
  taskQueue: string,
  options: TemporalOptions,
): Promise<Temporal> {
  const { log, hasMetrics, payloadKeys, secrets, unsignedUntil, tracing, onStarted } = options;
  const metricsUrl = await installRuntime(log, hasMetrics);
  const { address, namespace, uiUrl, tls, apiKey } = server;
  const place = { address, ...(tls ? { tls } : {}), ...defined({ apiKey }) };
  const native = await NativeConnection.connect(place);
  const retries = closableRetries();
  const connection = await QuietConnection.connect({
    ...place,
    interceptors: [retries.interceptor],
  });
  const findsDefinitions = await registerSearchAttributes(connection, namespace, log);
  const dataConverter = dataConverterOf(payloadKeys);
  const interceptors = tracing === undefined ? {} : { workflow: [traceStarts(tracing)] };
  const waiter = new Client({ connection, namespace, dataConverter });
  return {
    namespace,
    uiUrl,
    taskQueue,
    metricsUrl,
    findsDefinitions,
    dataConverter,
    signer: workflowSigner({ ...secrets, namespace, unsignedUntil }),
    native,
    starter: new Client({ connection: native, namespace, dataConverter, interceptors }),
    waiter,
    lister: new Client({ connection, namespace, dataConverter: listConverterOf(payloadKeys) }),
    onStarted,
    async cancel(workflowId, runId) {
      const { workflow } = waiter;
      // A continued workflow keeps the first run's id, but one that was reset gets another.
      // Canceling a closed workflow is no error, so the chain of the first run is tried first.
      const chain = workflow.getHandle(workflowId, undefined, { firstExecutionRunId: runId });
      for (const handle of [chain, workflow.getHandle(workflowId, runId)]) {
        try {
          return void (await handle.cancel());
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw temporalProblem(error);
        }
      }
    },
    async ping() {
      await connection.withDeadline(Date.now() + 2_000, () =>
        connection.workflowService.getSystemInfo({}),
      );
    },
    async close() {
      await retries.end();
      await connection.close();
      await native.close();
    },
  };
}
