import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { nextOccurrence, periodBefore } from '../../kernel/time/schedule-calendar.js';
import type { ScheduleFrequency } from '../../kernel/time/schedule-calendar.js';
import { utcDate } from '../../kernel/time/date.js';
import type {
  ClockMoveInput,
  ClockMoveStart,
  ClockStep,
  ClockStepResult,
  DoneWork,
  DueJob,
  ScheduledJob,
} from '../../messages/sandbox/sandbox-clock.js';
import { moveTenantClock, readTenantClock } from '../../models/sandbox/sandbox-clock.js';
import { WorkflowWaits, type WorkflowsAt } from '../../models/workflows/wait.js';
import { mergeUsageTotals } from '../usage/project-usage.js';
import { dueWorks } from './due-work.js';

/** A schedule of a tenant, as far as its clock needs it. */
export interface ClockSchedule {
  readonly job: ScheduledJob;
  readonly every: ScheduleFrequency;
  /** Hour of the day in UTC. */
  readonly hour: number;
}

/** Dates of later invoices would not fit into a calendar of four digits. */
const latest = '9000-01-01T00:00:00.000Z';

/**
 * Whether the time of a sandbox may be moved. 409: it is no sandbox. 400: it is to go back. What was
 * charged until now is booked at the time at which the clock stands, before it goes on.
 */
export async function beginClockMove(
  { db, tenantId }: Scope,
  { to }: ClockMoveInput,
): Promise<ClockMoveStart> {
  const clock = await readTenantClock(db.read, tenantId);
  if (!clock) {
    throw problem.conflict(
      `The tenant '${tenantId}' is no sandbox: its time is the real one. 'durabill tenant create --sandbox' makes one, 'durabill tenant copy' copies one.`,
    );
  }
  const from = clock.standsAt.toISOString();
  if (to < from || to > latest) {
    const reason = to < from ? `before the time of the tenant, ${from}` : 'too far away';
    throw problem.validation(`'now' must not be ${reason}`, { field: 'now', value: to });
  }
  while (await mergeUsageTotals({ db, tenantId }));
  return { from, doneUntil: clock.doneUntil.toISOString() };
}

const quiet: WorkflowsAt = { due: [], isQuiet: true };

/** Does what is due at an instant, but for what schedules start. */
async function workAt(scope: Scope, at: Date): Promise<DoneWork[]> {
  const then: Scope = { ...scope, now: () => at };
  const done: DoneWork[] = [];
  for (const { kind, work } of dueWorks) {
    const count = await work(then);
    if (count === 0) continue;
    const status = 'completed';
    done.push({ at: at.toISOString(), kind, count, status, executionId: null });
  }
  return done;
}

/** The next instant behind `at` at which something falls due, at most `to`. */
async function nextDue(
  { db, tenantId }: Scope,
  schedules: readonly ClockSchedule[],
  at: Date,
  to: Date,
): Promise<Date> {
  let next = to;
  const consider = (due: Date | undefined): void => {
    if (due && due > at && due < next) next = due;
  };
  for (const { every, hour } of schedules) consider(nextOccurrence(every, hour, at));
  for (const each of dueWorks) consider(await each.next(db.read, tenantId));
  consider(await WorkflowWaits.next(db.read, tenantId));
  return next;
}

/** The jobs that schedules start at an instant, for the periods that ended before it. */
function jobsAt(schedules: readonly ClockSchedule[], at: Date): DueJob[] {
  const before = new Date(at.getTime() - 1);
  return schedules
    .filter(({ every, hour }) => nextOccurrence(every, hour, before).getTime() === at.getTime())
    .map(({ job, every }) => ({ job, ...periodBefore(every, utcDate(at)) }));
}

/**
 * Lets the time of a sandbox go on from `after` and does what falls due, in order, until schedules
 * start something, `to` is reached, the tenant's own workflows are at work, or the step has taken
 * `limitMs`. What is due at `after` is done
 * again where it was not yet: a repeated step changes nothing.
 */
export async function advanceClock(
  scope: Scope,
  { after, to, isAwaited = false }: ClockStep,
  schedules: readonly ClockSchedule[],
  limitMs: number,
): Promise<ClockStepResult> {
  const { db, tenantId } = scope;
  const began = performance.now();
  const [first, end] = [new Date(after), new Date(to)];
  const done: DoneWork[] = [];
  for (let at = first; ; at = await nextDue(scope, schedules, at, end)) {
    const standsAt = at;
    await db.transaction((trx) => moveTenantClock(trx, tenantId, { standsAt, doneUntil: first }));
    done.push(...(await workAt(scope, at)));
    const jobs = at > first ? jobsAt(schedules, at) : [];
    const { due, isQuiet } =
      isAwaited && at <= first ? quiet : await WorkflowWaits.at(db.read, tenantId, at);
    const isThere = at >= end && jobs.length === 0 && isQuiet;
    const isOver = performance.now() - began > limitMs && at > first;
    if (isThere || isOver || jobs.length > 0 || !isQuiet) {
      return { at: at.toISOString(), jobs, done, woken: due, isBusy: !isQuiet, isThere };
    }
  }
}

/** The move has ended: all that fell due has been done. */
export async function endClockMove({ db, tenantId }: Scope, { to }: ClockMoveInput): Promise<void> {
  const at = new Date(to);
  await db.transaction((trx) => moveTenantClock(trx, tenantId, { standsAt: at, doneUntil: at }));
}
