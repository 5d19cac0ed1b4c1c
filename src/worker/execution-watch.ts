import type { WorkflowExecutionInfo } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { recordClosedExecution } from '../activities/execution.js';
import type { ExecutionStatus } from '../kernel/flow-run.js';
import { signatureMemo } from '../kernel/workflow-signature.js';
import type { Platform } from '../platform/platform.js';
import type { ListedWorkflow } from '../platform/workflow-signature.js';

const watchMs = 2_000;
/** How far back the first look goes: what ended while no process watched. */
const firstLookMs = 24 * 3_600_000;
/** How far back every other one goes: Temporal indexes what has ended a moment later. */
const lookMs = 60_000;

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
 * Brings to the database how executions ended that Temporal ended by itself, or somebody in its UI:
 * within seconds, and on the next start if no process was there to see it. Several processes may
 * watch: recording an end twice changes nothing.
 */
export class ExecutionWatch {
  readonly #platform: Platform;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #sinceMs = firstLookMs;
  /** Each run is told of once. */
  readonly #refused = new LRUCache<string, true>({ max: 1_000 });

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, watchMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { temporal, log } = this.#platform;
    const since = new Date(Date.now() - this.#sinceMs).toISOString();
    const query =
      `ExecutionStatus in ("Canceled", "Terminated", "TimedOut") and CloseTime > "${since}"` +
      ` and TaskQueue = "${temporal.taskQueue}"`;
    try {
      for await (const info of temporal.lister.workflow.list({ query })) await this.#record(info);
      this.#sinceMs = lookMs;
    } catch (error) {
      log.warn({ err: error }, 'cannot look for executions that Temporal ended; trying again');
    }
  }

  async #record(info: WorkflowExecutionInfo): Promise<void> {
    const executionId: unknown = info.memo?.['executionId'];
    const status = statuses[info.status.name];
    // Workflows without executions of this kind, such as those that rate usage, have no such memo.
    if (typeof executionId !== 'string' || status === undefined) return;
    const { type, workflowId, runId } = info;
    const subject = { tenantId: keyword(info, 'TenantId'), actor: keyword(info, 'Actor') };
    if (!this.#isOurs(info, { type, workflowId, executionId, ...subject })) return;
    await recordClosedExecution(this.#platform, {
      ...{ executionId, status, ...subject },
      place: { workflow: type, workflowId, runId },
    });
  }

  /** Whether this installation has started it: others must not write executions into a tenant. */
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
