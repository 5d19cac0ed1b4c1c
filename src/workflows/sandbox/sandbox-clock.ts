import {
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { FlowRun } from '../../messages/flow-run.js';
import {
  clockMovedSignal,
  doneMax,
  type ClockMoveInput,
  type ClockMoveStart,
  type DoneWork,
  type DueJob,
  type MovedClock,
} from '../../messages/sandbox/sandbox-clock.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { longSteps, shortSteps } from '../runtime/step-timeouts.js';
import { auditPeriod, billPeriod } from '../runtime/scheduled-period.js';

/** How far a move is; one that goes on in another history is given it. */
interface MoveState {
  readonly start: ClockMoveStart;
  /** What fell due until then has been done. */
  after: string;
  /** The tenant's own workflows were waited for long enough at this instant. */
  isAwaited?: boolean;
  readonly done: DoneWork[];
  doneCount: number;
}

function addDone(state: MoveState, done: readonly DoneWork[]): void {
  state.doneCount += done.reduce((sum, { count }) => sum + count, 0);
  state.done.push(...done.slice(0, doneMax - state.done.length));
}

const jobs = {
  billing: { kind: 'billing-run', work: billPeriod },
  audit: { kind: 'audit-usage', work: auditPeriod },
} as const;

/** Does what a schedule starts; one that fails does not stop the time. */
async function runJob(
  { tenantId }: FlowRun,
  { job, periodStart, periodEnd }: DueJob,
  at: string,
): Promise<DoneWork> {
  const { kind, work } = jobs[job];
  let executionId: string | null = null;
  const begun = (id: string): void => {
    executionId = id;
  };
  try {
    await work(tenantId, { periodStart, periodEnd }, begun);
    return { at, kind, count: 1, status: 'completed', executionId };
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { at, kind, count: 1, status: 'failed', executionId };
  }
}

/**
 * Wakes the tenant's own workflows whose wait is over, and waits for them, but not for ever; whether
 * they have done what there is to do.
 */
async function awaitWorkflows(
  run: FlowRun,
  at: string,
  woken: readonly string[],
): Promise<boolean> {
  const now = Date.parse(at);
  for (const workflowId of woken) {
    // One that has ended meanwhile has nothing to hear.
    await getExternalWorkflowHandle(workflowId)
      .signal(clockMovedSignal, now)
      .catch(() => undefined);
  }
  return persist(() => longSteps.awaitQuiet({ run, input: { at } }), { isWorthIt: isAway });
}

/**
 * Moves the time of a sandbox forward (docs/decisions/0381): to each instant at which something falls
 * due, which is done before the time goes on.
 */
export async function moveClock(
  run: FlowRun<ClockMoveInput>,
  resumed?: MoveState,
): Promise<MovedClock> {
  const { to } = run.input;
  let state = resumed;
  if (!state) {
    const start = await step(shortSteps.beginClockMove, run, run.input);
    state = { start, after: start.doneUntil, done: [], doneCount: 0 };
  }
  for (;;) {
    const { after, isAwaited = false } = state;
    const input = { after, to, ...(isAwaited ? { isAwaited } : {}) };
    const {
      at,
      done,
      jobs: due,
      woken = [],
      isBusy = false,
      isThere,
    } = await persist(() => longSteps.advanceClock({ run, input }), { isWorthIt: isAway });
    addDone(state, done);
    for (const job of due) addDone(state, [await runJob(run, job, at)]);
    state.after = at;
    state.isAwaited = isBusy && !(await awaitWorkflows(run, at, woken));
    if (isThere) break;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof moveClock>(run, state);
  }
  const { start, done, doneCount } = state;
  return lastStep(shortSteps.endClockMove, run, { ...start, to, done, doneCount });
}
