import { setImmediate as nextTurn } from 'node:timers/promises';
import { emitEvent, lookAtListener, openListener } from '../../commands/workflows/listener.js';
import { inputInWorkflowId } from '../../messages/definitions/definition-run.js';
import type { EventFilter } from '../../messages/definitions/definition.js';
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
import { dataOfEvent, FailedConditions, holds } from './condition.js';

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

type Complain = Parameters<typeof holds>[2];

const wants = (
  { filters, variables }: OpenListener,
  event: string,
  data: unknown,
  complain: Complain,
): boolean =>
  (JSON.parse(filters) as EventFilter[]).some(
    (filter) =>
      filter.type === event &&
      holds(filter.data, { ...(JSON.parse(variables) as Record<string, unknown>), data }, complain),
  );

/** How long events of one tenant are read out before another's are: conditions cost something. */
const tenantMs = 200;

interface Waiting {
  readonly events: readonly WaitingEvent[];
  readonly listeners: readonly OpenListener[];
}

/** Asks those who listen about the oldest events; whoever else waits has a turn in between. */
async function heardOf(tenantId: string, { events, listeners }: Waiting, failed: FailedConditions) {
  const heard = new Map<string, ListenerKey & HeardRow>();
  const end = performance.now() + tenantMs;
  let done = 0;
  for (const { seq, event, body } of events) {
    if (done > 0 && performance.now() > end) break;
    const data = await dataOfEvent(body);
    for (const listener of listeners) {
      const key = `${listener.executionId}/${listener.seq}`;
      if (listener.event !== event || heard.has(key)) continue;
      if (BigInt(listener.openedAfter) > BigInt(seq)) continue;
      const { executionId, seq: task, workflowId } = listener;
      const complain: Complain = (fault) => {
        const { definitionId = '' } = inputInWorkflowId(workflowId);
        failed.add({ tenantId, definitionId, version: null, event, executionId, fault });
      };
      if (wants(listener, event, data, complain)) {
        heard.set(key, { executionId, seq: task, event, body });
      }
      await nextTurn();
    }
    done += 1;
  }
  return { heard: [...heard.values()], done: events.slice(0, done) };
}

/** Reads out the oldest events of each tenant of a cell; whether there may be more. */
export async function readOutEvents(platform: Platform, cell: Cell): Promise<boolean> {
  let isMore = false;
  const failures: unknown[] = [];
  for (const tenantId of await WorkflowListeners.tenants(cell.platform)) {
    const failed = new FailedConditions(platform);
    try {
      await cell.platform.transaction(async (trx) => {
        const waiting = await WorkflowListeners.waiting(trx, tenantId);
        if (!waiting || waiting.events.length === 0) return;
        const { heard, done } = await heardOf(tenantId, waiting, failed);
        await WorkflowListeners.hear(trx, tenantId, heard, done);
        isMore = true;
      });
    } catch (error) {
      // The events of others are read out all the same.
      failures.push(error);
    } finally {
      await failed.note();
    }
  }
  if (failures.length > 0) throw failures[0];
  return isMore;
}

/** Claims executions of a cell that are to be told what they have heard: each again after a minute. */
export const claimWakes = ({
  platform,
}: Cell): Promise<readonly { readonly workflowId: string; readonly seq: number }[]> =>
  WorkflowListeners.toWake(platform);
