import type { WorkflowExecutionInfo } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import {
  findWatchedUntil,
  keepWatchedUntil,
  recordClosedExecution,
  recordClosedRetry,
} from '../activities/flows/execution.js';
import { definitionQueue } from '../messages/definitions/definition-run.js';
import type { ExecutionStatus } from '../messages/flow-run.js';
import { signatureMemo } from '../messages/workflow-signature.js';
import type { Platform } from '../process/platform.js';
import type { ListedWorkflow } from '../platform/temporal/workflow-signature.js';
import { firstRunOf } from '../platform/temporal/workflow-start.js';
import { Watch } from './watch.js';

export interface ExecutionWatchLimits {
  /** How often it looks. */
  readonly everyMs: number;
  /**
   * How far a search reaches back before its watermark, since Temporal indexes closed executions
   * with a delay.
   */
  readonly overlapMs: number;
  /**
   * How far back the first search of an instance reaches, and how long an outcome that cannot be
   * recorded is retried.
   */
  readonly backMs: number;
  /** How far the stored watermark may lag behind; a restart searches that range again. */
  readonly keepMs: number;
}

const limitsByDefault: ExecutionWatchLimits = {
  everyMs: 2_000,
  overlapMs: 60_000,
  backMs: 24 * 3_600_000,
  keepMs: 10_000,
};

/** Failures to record an outcome after which a search stops: the database is unavailable. */
const failuresMax = 5;
/** Recorded outcomes kept in memory, so that those in the overlap are not written again. */
const rememberedMax = 20_000;

const statuses: Readonly<Record<string, ExecutionStatus>> = {
  CANCELLED: 'canceled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
};

const keyword = (info: WorkflowExecutionInfo, name: string): string => {
  const values: unknown = info.searchAttributes[name];
  return Array.isArray(values) ? String(values[0]) : '';
};

/**
 * Records in the database the outcomes of executions that were closed by Temporal itself or by a
 * user of its UI: within seconds, or once database, Temporal and workers are all available again.
 * The watermark of the search is stored in the database and advances only when all outcomes found
 * are recorded. Several processes may watch: recording is idempotent.
 */
export class ExecutionWatch {
  readonly #platform: Platform;
  readonly #limits: ExecutionWatchLimits;
  readonly #watch: Watch;
  readonly #recorded = new LRUCache<string, true>({ max: rememberedMax });
  /** The number of failures to record an outcome; failed ones are tried last. */
  readonly #failures = new LRUCache<string, number>({ max: rememberedMax });
  #lookedUntil: number | undefined;
  #keptUntil = 0;
  /** Refused runs, so that each is logged once. */
  readonly #refused = new LRUCache<string, true>({ max: 1_000 });

  constructor(platform: Platform, limits: Partial<ExecutionWatchLimits> = {}) {
    this.#platform = platform;
    this.#limits = { ...limitsByDefault, ...limits };
    this.#watch = new Watch(platform, {
      everyMs: this.#limits.everyMs,
      failure: 'cannot look for executions that Temporal ended; trying again',
      look: () => this.#look(),
    });
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }

  async #look(): Promise<void> {
    const { overlapMs, backMs, keepMs } = this.#limits;
    const startedAt = Date.now();
    this.#lookedUntil ??= (await findWatchedUntil(this.#platform))?.getTime() ?? startedAt - backMs;
    const fault = await this.#recordSince(this.#lookedUntil - overlapMs);
    if (fault !== undefined && startedAt - this.#lookedUntil < backMs) throw fault.error;
    this.#lookedUntil = startedAt;
    if (startedAt - this.#keptUntil < keepMs) return;
    await keepWatchedUntil(this.#platform, new Date(startedAt));
    this.#keptUntil = startedAt;
  }

  /** Records the outcomes since an instant; returns undefined if all are recorded. */
  async #recordSince(since: number): Promise<{ readonly error: unknown } | undefined> {
    const { temporal } = this.#platform;
    const query =
      `ExecutionStatus in ("Canceled", "Terminated", "TimedOut")` +
      ` and CloseTime > "${new Date(since).toISOString()}"` +
      ` and TaskQueue in ("${temporal.taskQueue}", "${definitionQueue(temporal.taskQueue)}")`;
    const found: WorkflowExecutionInfo[] = [];
    for await (const info of temporal.lister.workflow.list({ query })) {
      if (!this.#recorded.has(info.runId)) found.push(info);
    }
    const failuresOf = ({ runId }: WorkflowExecutionInfo): number => this.#failures.get(runId) ?? 0;
    found.sort((a, b) => failuresOf(a) - failuresOf(b));
    let fault: { readonly error: unknown } | undefined;
    let failures = 0;
    for (const info of found) {
      try {
        await this.#record(info);
        this.#recorded.set(info.runId, true);
      } catch (error) {
        fault = { error };
        this.#failures.set(info.runId, failuresOf(info) + 1);
        failures += 1;
        if (failures >= failuresMax) break;
      }
    }
    return fault;
  }

  async #record(info: WorkflowExecutionInfo): Promise<void> {
    const status = statuses[info.status.name];
    const { type, workflowId, runId } = info;
    const memo: unknown = info.memo?.['executionId'];
    const named = typeof memo === 'string' ? memo : null;
    // A retry of usage is known by its first run; others without an id, such as rating, have no execution.
    const isRetry = type === 'retryUsage';
    if (status === undefined || (named === null && !isRetry)) return;
    const subject = { tenantId: keyword(info, 'TenantId'), actor: keyword(info, 'Actor') };
    if (!this.#isOurs(info, { type, workflowId, executionId: named, ...subject })) return;
    const executionId = named ?? (await firstRunOf(this.#platform.temporal, workflowId, runId));
    const place = { workflow: type, workflowId, runId };
    const closed = { executionId, status, ...subject, place, startedAt: info.startTime };
    await (isRetry ? recordClosedRetry : recordClosedExecution)(this.#platform, closed);
    this.#platform.changes.notify(subject.tenantId, { usage: false, executions: [executionId] });
  }

  /** Whether this installation started it: others must not write executions into a tenant. */
  #isOurs(info: WorkflowExecutionInfo, listed: ListedWorkflow): boolean {
    const { temporal, log } = this.#platform;
    const signature: unknown = info.memo?.[signatureMemo];
    if (temporal.signer.isListedSigned(listed, signature)) return true;
    if (signature === undefined && temporal.signer.acceptsUnsigned()) return true;
    const { type: workflow, workflowId } = listed;
    if (!this.#refused.has(info.runId)) {
      this.#refused.set(info.runId, true);
      log.error(
        { security: 'unauthenticated workflow', workflow, workflowId, runId: info.runId },
        'did not record the end of a workflow that was not started by this installation',
      );
    }
    return false;
  }
}
