import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/json.js';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { RetryFilter, UsageRetry, UsageRetryResult } from '../kernel/usage-workflow.js';
import type { Platform } from '../platform/platform.js';
import { runWorkflow, type WorkflowStart } from '../platform/workflow-start.js';
import { findUsageEvent, getUsageEvent, type UsageEventDto } from '../queries/usage-event.js';
import { readUsageEventFilter } from '../queries/usage-event-filter.js';
import type { RetryBody } from '../schemas/usage-event.js';

function runRetry(
  scope: Scope,
  { temporal, config }: Platform,
  filter: RetryFilter,
  entityId: string,
): Promise<UsageRetryResult> {
  const { tenantId, actor } = scope;
  const input: UsageRetry = { tenantId, actor, filter };
  const start: WorkflowStart = {
    ...{ type: 'retryUsage', workflowId: `${tenantId}/usage-retry/${entityId}`, input },
    subject: { tenantId, entityType: 'usage', entityId, actor },
    summary: filter.id === undefined ? 'rate rejected usage again' : 'rate a rejected event again',
  };
  return runWorkflow<UsageRetryResult>(temporal, start, config.flowTimeoutMs);
}

/** Rates one rejected event again. 404 when there is none, 409 when it is not rejected. */
export async function retryUsageEvent(
  scope: Scope,
  platform: Platform,
  key: string,
): Promise<UsageEventDto> {
  const event = await findUsageEvent(scope, key);
  if (event?.status !== 'rejected') {
    // Throws where there is no such event; one that waits is no candidate either.
    const { status } = event ?? (await getUsageEvent(scope, platform.broker, key));
    throw problem.conflict(`The usage event is ${status}; only rejected ones can be rated again.`);
  }
  await runRetry(scope, platform, { id: event.id }, event.id);
  return getUsageEvent(scope, platform.broker, event.id);
}

/** Rates the rejected events of a filter again; without a filter all of them. */
export function retryUsageEvents(
  scope: Scope,
  platform: Platform,
  { status: _status, ...body }: RetryBody,
): Promise<UsageRetryResult> {
  const filter = readUsageEventFilter(body);
  // Two that ask for the same at the same time share one workflow.
  const key = createHash('sha256').update(canonicalJson(filter)).digest('hex').slice(0, 16);
  return runRetry(scope, platform, filter, key);
}
