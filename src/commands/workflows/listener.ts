import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { jsonWithDoubles, parseStoredJson } from '../../kernel/text/json.js';
import { definitionLimits } from '../../messages/definitions/definition.js';
import {
  isOwnEvent,
  type AskedListener,
  type EmittedEvent,
  type HeardEvent,
  type ListenerLook,
} from '../../messages/definitions/event.js';
import { listenersMax, WorkflowListeners } from '../../models/workflows/listener.js';
import { WorkflowTask } from '../../models/workflows/task.js';
import { recordWebhookEvent } from '../webhooks/webhook-event.js';

/** Writes the event of a run of a task; the same again writes none (spec/beyond.md R348). */
export async function emitEvent(
  scope: Scope,
  executionId: string,
  { seq, type, data }: EmittedEvent,
): Promise<void> {
  if (!isOwnEvent(type)) throw problem.validation(`'${type}' is no event of your own.`);
  await scope.db.transaction(async (trx) => {
    if (!(await WorkflowTask.markEmitted(trx, scope.tenantId, executionId, seq))) return;
    // Events of one execution are delivered in their order.
    await recordWebhookEvent(trx, within(scope, trx), { event: type, recordId: executionId, data });
  });
}

/** Makes a task listen. 409: enough others do. */
export async function openListener(
  { db, tenantId, realNow }: Scope,
  { executionId, workflowId }: { readonly executionId: string; readonly workflowId: string },
  { seq, filters, variables, forget }: AskedListener,
): Promise<void> {
  await db.transaction(async (trx) => {
    await WorkflowListeners.forget(trx, tenantId, executionId, forget);
    if ((await WorkflowListeners.count(trx, tenantId)) >= listenersMax) {
      throw problem.conflict(`${listenersMax} tasks wait for events, the most that may.`);
    }
    const key = { executionId, seq };
    await WorkflowListeners.open(trx, tenantId, key, {
      workflowId,
      filters,
      variables,
      at: realNow(),
    });
  });
}

/** What a run of a task has heard; null: nothing yet. 409: it is more than an execution keeps. */
export async function lookAtListener(
  { db, tenantId }: Scope,
  executionId: string,
  { seq, isEnding }: ListenerLook,
): Promise<HeardEvent | null> {
  const heard = await db.transaction((trx) =>
    WorkflowListeners.look(trx, tenantId, { executionId, seq, isEnding }),
  );
  if (!heard) return null;
  if (heard.body.length > definitionLimits.stateBytes) {
    const most = definitionLimits.stateBytes;
    throw problem.conflict(
      `The event has ${heard.body.length} characters, more than the ${most} that an execution keeps.`,
    );
  }
  const { timestamp, data } = jsonWithDoubles(parseStoredJson(heard.body)) as {
    readonly timestamp: string;
    readonly data: unknown;
  };
  return { type: heard.event, time: timestamp, data };
}
