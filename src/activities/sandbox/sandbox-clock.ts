import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import {
  advanceClock,
  beginClockMove,
  endClockMove,
  type ClockSchedule,
} from '../../commands/sandbox/sandbox-clock.js';
import {
  scheduledJobs,
  type ClockLook,
  type ClockMoveEnd,
  type ClockMoveInput,
  type ClockStep,
  type ClockStepResult,
  type MovedClock,
} from '../../messages/sandbox/sandbox-clock.js';
import { WorkflowWaits } from '../../models/workflows/wait.js';
import { readSchedule } from '../../platform/temporal/known-schedule.js';
import type { Platform } from '../../process/platform.js';
import { flowStep, outerScope, type StepCall } from '../flows/flow-step.js';
import { activityFailure } from '../failure.js';
import { beating } from '../heartbeat.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

/** A step of a move ends after this time; the next one goes on. */
const stepMs = 20_000;

/** How long the time waits at an instant for what the tenant's own workflows do at it. */
const quietMs = 30_000;
const lookMs = 100;

/** The schedules of a sandbox that are not paused: its clock starts what they are for. */
async function readSchedules({ temporal }: Platform, tenantId: string): Promise<ClockSchedule[]> {
  const found: ClockSchedule[] = [];
  for (const job of scheduledJobs) {
    const known = await readSchedule(temporal, tenantId, job);
    if (known?.paused === false) found.push({ job, every: known.every, hour: known.hour });
  }
  return found;
}

export function clockActivities(platform: Platform) {
  return {
    /** Checks a move, and says where it begins. */
    beginClockMove: flowStep(platform, (scope, input: ClockMoveInput) =>
      beginClockMove(scope, input),
    ),

    /** Lets the time of a sandbox go on, and does what falls due. */
    advanceClock: ({ run, input }: StepCall<ClockStep>): Promise<ClockStepResult> =>
      alive(run.tenantId, async () => {
        const scope = await workflowScope(platform, run.tenantId, run.actor);
        const schedules = await readSchedules(platform, run.tenantId);
        return advanceClock(scope, input, schedules, stepMs);
      }),

    /**
     * Waits until the tenant's own workflows do nothing but wait for an instant behind `at`; false:
     * that takes too long.
     */
    awaitQuiet: ({ run, input }: StepCall<{ readonly at: string }>): Promise<boolean> =>
      // Without a place among the long steps: what it waits for may need one.
      beating(Context.current(), async () => {
        const { db, tenantId } = await workflowScope(platform, run.tenantId, run.actor);
        const at = new Date(input.at);
        for (const since = performance.now(); performance.now() - since < quietMs;) {
          const { isQuiet } = await WorkflowWaits.at(db.read, tenantId, at);
          if (isQuiet) return true;
          await wait(lookMs);
        }
        return false;
      }),

    /** Notes until when an execution only waits, and gives the time of its tenant, in milliseconds. */
    lookAtClock: async ({ run, input: { until } }: StepCall<ClockLook>): Promise<number> => {
      try {
        const { db, tenantId, now } = await outerScope(platform, run);
        if (until !== undefined) {
          await db.transaction((trx) =>
            WorkflowWaits.keep(trx, tenantId, run.executionId, new Date(until)),
          );
        }
        // Read again: what was noted counts from now on.
        const clock = until === undefined ? now : await platform.clocks.of(tenantId);
        return clock().getTime();
      } catch (error) {
        throw activityFailure(error);
      }
    },

    /** Ends a move. */
    endClockMove: flowStep(
      platform,
      async (scope, end: ClockMoveEnd, executionId): Promise<MovedClock> => {
        await endClockMove(scope, end);
        const { from, to, done, doneCount } = end;
        return { now: to, sandbox: true, movedFrom: from, done: [...done], doneCount, executionId };
      },
    ),
  };
}
