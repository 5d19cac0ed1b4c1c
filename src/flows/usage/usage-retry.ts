import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { claimIdempotencyKey } from '../../commands/flows/idempotent-start.js';
import { newId } from '../../kernel/id.js';
import { canonicalJson } from '../../kernel/text/json.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { RetryFilter, UsageRetry, UsageRetryResult } from '../../messages/usage-workflow.js';
import type { Platform } from '../../process/platform.js';
import { runWorkflow, type WorkflowStart } from '../../platform/temporal/workflow-start.js';
import { isRepeated } from '../../queries/flows/idempotency-key.js';
import {
  findUsageEvent,
  getUsageEvent,
  type UsageEventDto,
} from '../../queries/usage/usage-event.js';
import { readUsageEventFilter } from '../../queries/usage/finding/usage-event-filter.js';
import { previewRetry } from '../../queries/usage/finding/retry-preview.js';
import type { RetryBody, RetryResult } from '../../schemas/usage/usage-event.js';

/** A retry of rejected events. */
interface Retry {
  readonly filter: RetryFilter;
  /** Part of the workflow id: equal for equal requests. */
  readonly entityId: string;
  /** The caller's key for this request, if it gave one. */
  readonly idempotencyKey: string | null;
}

const hashOf = (entityId: string): string =>
  createHash('sha256').update(`retryUsage ${entityId}`).digest('hex');

/**
 * Runs a retry and waits for its result. Concurrent requests for the same events share one
 * workflow; a request repeated under its idempotency key gets the result of the first.
 */
async function runRetry(
  scope: Scope,
  platform: Platform,
  { filter, entityId, idempotencyKey }: Retry,
): Promise<UsageRetryResult> {
  const { tenantId, actor } = scope;
  const { temporal, config } = platform;
  const input: UsageRetry = { tenantId, actor, filter };
  const start: WorkflowStart = {
    type: 'retryUsage',
    workflowId: `${tenantId}/usage-retry/${entityId}`,
    input,
    subject: { tenantId, entityType: 'usage', entityId, actor },
    summary: filter.id === undefined ? 'rate rejected usage again' : 'rate a rejected event again',
  };
  if (idempotencyKey === null) return runWorkflow(temporal, start, config.flowTimeoutMs);
  const executionId = newId();
  const { workflowId } = await claimIdempotencyKey(scope, {
    key: idempotencyKey,
    executionId,
    workflowId: `${tenantId}/usage-retry/${executionId}`,
    requestHash: hashOf(entityId),
  });
  return runWorkflow(temporal, { ...start, workflowId, isOnce: true }, config.flowTimeoutMs);
}

/**
 * Rates one rejected event again. 404 when there is none, 409 when it is not rejected (unless a
 * request under the same idempotency key has rated it before).
 */
export async function retryUsageEvent(
  scope: Scope,
  platform: Platform,
  key: string,
  idempotencyKey: string | null,
): Promise<UsageEventDto> {
  const event = await findUsageEvent(scope, key);
  const isOpen = event?.status === 'rejected';
  if (!event || !(isOpen || (await isRepeated(scope, idempotencyKey, hashOf(event.id))))) {
    // Throws if there is no such event; a pending one cannot be retried.
    const { status } = event ?? (await getUsageEvent(scope, platform, key));
    throw problem.conflict(`The usage event is ${status}; only rejected ones can be rated again.`);
  }
  const { id } = event;
  await runRetry(scope, platform, { filter: { id }, entityId: id, idempotencyKey });
  return getUsageEvent(scope, platform, id);
}

/** Rates the rejected events of a filter again; without a filter all of them. */
export function retryUsageEvents(
  scope: Scope,
  platform: Platform,
  { status: _status, dryRun = false, ...body }: RetryBody,
  idempotencyKey: string | null,
): Promise<Static<typeof RetryResult>> {
  const filter = readUsageEventFilter(body);
  if (dryRun) {
    return previewRetry(scope, filter, (error) =>
      platform.log.error({ err: error }, 'a preview of a retry met an error of ours'),
    );
  }
  const entityId = createHash('sha256').update(canonicalJson(filter)).digest('hex').slice(0, 16);
  return runRetry(scope, platform, { filter, entityId, idempotencyKey });
}
