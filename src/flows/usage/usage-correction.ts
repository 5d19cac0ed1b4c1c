import { setTimeout as wait } from 'node:timers/promises';
import { stringifyJson } from '../../kernel/text/json.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { AmendEventInput, CancelEventInput } from '../../messages/usage-workflow.js';
import type { Static } from 'typebox';
import type { Platform } from '../../process/platform.js';
import { readInstantOf } from '../../queries/lists/time-range.js';
import { findUsageEvent, getUsageEvent } from '../../queries/usage/usage-event.js';
import { countRejections } from '../../queries/usage/finding/usage-rejections.js';
import { readUsageEventFilter } from '../../queries/usage/finding/usage-event-filter.js';
import { rejectionsMax } from '../../schemas/usage/usage-event.js';
import type {
  AmendBody,
  CancelBody,
  DismissBody,
  EventsDismissed,
} from '../../schemas/usage/usage-correction.js';
import { runFlow } from '../run-flow.js';

const askMs = 100;

/**
 * The id of an event that was rated or rejected; waits some seconds for one that is pending. 404: there
 * is none. 409: it is still pending.
 */
async function eventIdOf(scope: Scope, platform: Platform, key: string): Promise<string> {
  const deadline = Date.now() + platform.config.flowTimeoutMs / 2;
  for (;;) {
    const stored = await findUsageEvent(scope, key);
    if (stored) return stored.id;
    // Throws where there is none.
    const { id, status } = await getUsageEvent(scope, platform, key);
    if (status !== 'pending' && id !== null) return id;
    if (Date.now() > deadline) {
      throw problem.conflict(`The usage event '${key}' is pending: correct it once it is rated.`, {
        field: 'status',
      });
    }
    await wait(askMs);
  }
}

/** Cancels a usage event, by our id or the external one. 404, 409. */
export async function cancelUsageEvent(
  scope: Scope,
  platform: Platform,
  { id, reason, dryRun = false }: CancelBody & { readonly id: string },
  idempotencyKey: string | null,
) {
  const eventId = await eventIdOf(scope, platform, id);
  const input: CancelEventInput = { eventId, reason, ...(dryRun ? { dryRun } : {}) };
  const { output } = await runFlow(scope, platform, {
    workflow: 'cancelUsageEvent',
    input,
    businessKey: (executionId) => `usage-event/${eventId}/cancel/${executionId}`,
    entityType: 'usage',
    entityId: eventId,
    idempotencyKey,
    summary: 'cancel a usage event',
  });
  return output;
}

/** Gives a usage event other content. 400: it cannot be rated with it. 404, 409. */
export async function amendUsageEvent(
  scope: Scope,
  platform: Platform,
  { id, message, reason, dryRun = false }: AmendBody & { readonly id: string },
  idempotencyKey: string | null,
) {
  const eventId = await eventIdOf(scope, platform, id);
  // As text, so that numbers keep all their digits.
  const input: AmendEventInput = {
    eventId,
    message: stringifyJson(message),
    reason,
    ...(dryRun ? { dryRun } : {}),
  };
  const { output } = await runFlow(scope, platform, {
    workflow: 'amendUsageEvent',
    input,
    businessKey: (executionId) => `usage-event/${eventId}/amend/${executionId}`,
    entityType: 'usage',
    entityId: eventId,
    idempotencyKey,
    summary: 'amend a usage event',
  });
  return output;
}

/** Before when an event was accepted that is dismissed. 400: nobody knows yet what will be. */
function readUntil(given: string | undefined): string | undefined {
  const until = readInstantOf(given);
  if (until === null) return undefined;
  // Nothing was accepted before 1970, and no id is of a time before it.
  if (until.getTime() <= Date.now()) return new Date(Math.max(until.getTime(), 0)).toISOString();
  throw problem.validation(`'until' must not be in the future: '${given}'`, {
    field: 'until',
    value: given,
  });
}

/**
 * Dismisses rejected events of a filter, or says which they would be. 409: other ones of the tenant are
 * being dismissed.
 */
export async function dismissUsageEvents(
  scope: Scope,
  platform: Platform,
  { reason, dryRun = false, until: latest, ...given }: DismissBody,
  idempotencyKey: string | null,
): Promise<Static<typeof EventsDismissed>> {
  const filter = readUsageEventFilter(given);
  const asked = readUntil(latest ?? undefined);
  if (dryRun) {
    const until = asked ?? new Date().toISOString();
    const { counted: dismissed, ...found } = await countRejections(scope, filter, { until });
    return { dismissed, ...found, until, dryRun };
  }
  const { output, executionId } = await runFlow(scope, platform, {
    workflow: 'dismissUsageEvents',
    // Without an instant where none was given: a repeated request is the same.
    input: { filter, reason, max: rejectionsMax, ...(asked === undefined ? {} : { until: asked }) },
    businessKey: () => 'usage-dismissal',
    isLong: true,
    entityType: 'usage',
    entityId: 'rejected',
    idempotencyKey,
    summary: 'dismiss rejected usage',
  });
  return { ...output, executionId };
}
