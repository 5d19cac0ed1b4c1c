import { setImmediate as nextTurn } from 'node:timers/promises';
import { emitEvent, lookAtListener, openListener } from '../../commands/workflows/listener.js';
import { ExpressionFault } from '../../kernel/expression/expression-fault.js';
import { compileExpression, conditionCostMax } from '../../kernel/expression/expression.js';
import { jsonSafe, parseJson } from '../../kernel/text/json.js';
import { expressionIn, type EventFilter } from '../../messages/definitions/definition.js';
import type {
  AskedListener,
  EmittedEvent,
  HeardEvent,
  ListenerLook,
} from '../../messages/definitions/event.js';
import {
  WorkflowListeners,
  type HeardRow,
  type ListenerKey,
  type OpenListener,
  type WaitingEvent,
} from '../../models/workflows/listener.js';
import type { Cell } from '../../platform/database/cell.js';
import type { Platform } from '../../process/platform.js';
import { activityFailure } from '../failure.js';
import { outerScope, type StepCall } from '../flows/flow-step.js';
import { currentPlace } from '../flows/step-once.js';

/**
 * Steps of events find by the run of their task what was done: a new history counts activities anew
 * (docs/decisions/0402).
 */
export function listenerActivities(platform: Platform) {
  const repeatable = async <Output>(work: () => Promise<Output>): Promise<Output> => {
    try {
      return await work();
    } catch (error) {
      throw activityFailure(error);
    }
  };
  return {
    emitEvent: ({ run, input }: StepCall<EmittedEvent>): Promise<void> =>
      repeatable(async () => emitEvent(await outerScope(platform, run), run.executionId, input)),

    openListener: ({ run, input }: StepCall<AskedListener>): Promise<void> =>
      repeatable(async () => {
        const { workflowId } = currentPlace();
        const { executionId } = run;
        await openListener(await outerScope(platform, run), { executionId, workflowId }, input);
      }),

    lookAtListener: ({ run, input }: StepCall<ListenerLook>): Promise<HeardEvent | null> =>
      repeatable(async () =>
        lookAtListener(await outerScope(platform, run), run.executionId, input),
      ),
  };
}

/** Whether a condition on an event holds; one that fails does not, and neither does a dear one. */
export function holds(
  condition: string | null | undefined,
  variables: Readonly<Record<string, unknown>>,
): boolean {
  if (condition === null || condition === undefined) return true;
  try {
    const text = expressionIn(condition) ?? condition;
    const expression = compileExpression(text, Object.keys(variables));
    return expression.evaluate(variables, undefined, conditionCostMax) === true;
  } catch (error) {
    if (error instanceof ExpressionFault) return false;
    throw error;
  }
}

const wants = ({ filters, variables }: OpenListener, event: string, data: unknown): boolean =>
  (JSON.parse(filters) as EventFilter[]).some(
    (filter) =>
      filter.type === event &&
      holds(filter.data, { ...(JSON.parse(variables) as Record<string, unknown>), data }),
  );

/** How long events of one tenant are read out before another's are: conditions cost something. */
const tenantMs = 200;

/** Asks those who listen about the oldest events; whoever else waits has a turn in between. */
async function heardOf(events: readonly WaitingEvent[], listeners: readonly OpenListener[]) {
  const heard = new Map<string, ListenerKey & HeardRow>();
  const end = performance.now() + tenantMs;
  let done = 0;
  for (const { seq, event, body } of events) {
    if (done > 0 && performance.now() > end) break;
    const { data } = jsonSafe(parseJson(body)) as { readonly data: unknown };
    for (const listener of listeners) {
      const key = `${listener.executionId}/${listener.seq}`;
      if (listener.event !== event || heard.has(key)) continue;
      if (BigInt(listener.openedAfter) > BigInt(seq)) continue;
      const { executionId, seq: task } = listener;
      if (wants(listener, event, data)) heard.set(key, { executionId, seq: task, event, body });
      await nextTurn();
    }
    done += 1;
  }
  return { heard: [...heard.values()], done: events.slice(0, done) };
}

/** Reads out the oldest events of each tenant of a cell; whether there may be more. */
export async function readOutEvents({ platform }: Cell): Promise<boolean> {
  let isMore = false;
  for (const tenantId of await WorkflowListeners.tenants(platform)) {
    await platform.transaction(async (trx) => {
      const waiting = await WorkflowListeners.waiting(trx, tenantId);
      if (!waiting || waiting.events.length === 0) return;
      const { heard, done } = await heardOf(waiting.events, waiting.listeners);
      await WorkflowListeners.hear(trx, tenantId, heard, done);
      isMore = true;
    });
  }
  return isMore;
}

/** Claims executions of a cell that are to be told what they have heard: each again after a minute. */
export const claimWakes = ({
  platform,
}: Cell): Promise<readonly { readonly workflowId: string; readonly seq: number }[]> =>
  WorkflowListeners.toWake(platform);
