import { ScheduleNotFoundError } from '@temporalio/client';
import {
  advanceClock,
  beginClockMove,
  endClockMove,
  type ClockSchedule,
} from '../../commands/sandbox/clock.js';
import { scheduleFrequencies } from '../../kernel/time/schedule-calendar.js';
import {
  scheduledJobs,
  scheduleHourMemo,
  scheduleIdOf,
  type ClockMoveEnd,
  type ClockMoveInput,
  type ClockStep,
  type ClockStepResult,
  type MovedClock,
} from '../../messages/sandbox/clock-move.js';
import type { Platform } from '../../process/platform.js';
import { flowStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../heartbeat.js';
import { workflowScope } from '../scope.js';

/** A step of a move ends after this time; the next one goes on. */
const stepMs = 20_000;

/** The schedules of a sandbox that are not paused: its clock starts what they are for. */
async function readSchedules(
  { temporal: { lister } }: Platform,
  tenantId: string,
): Promise<ClockSchedule[]> {
  const found: ClockSchedule[] = [];
  for (const job of scheduledJobs) {
    const handle = lister.schedule.getHandle(scheduleIdOf(job, tenantId));
    const known = await handle.describe().catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    });
    if (known === undefined || known.state.paused) continue;
    const { every: given } = (known.action.args?.[0] ?? {}) as { readonly every?: unknown };
    const every = scheduleFrequencies.find((each) => each === given);
    const hour = known.memo?.[scheduleHourMemo];
    if (every !== undefined && typeof hour === 'number') found.push({ job, every, hour });
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
