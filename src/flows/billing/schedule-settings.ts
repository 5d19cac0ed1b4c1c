import { periodBefore, nextOccurrence } from '../../kernel/time/schedule-calendar.js';
import { utcDate } from '../../kernel/time/date.js';
import { problem, Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { recordSecurityEvent } from '../../access/security-events.js';
import { scheduledJobs, type ScheduledJob } from '../../messages/sandbox/sandbox-clock.js';
import { readSchedule, type ScheduleTimes } from '../../platform/temporal/known-schedule.js';
import { temporalProblem } from '../../platform/temporal/temporal.js';
import type { Platform } from '../../process/platform.js';
import { getClock } from '../../queries/sandbox/sandbox-clock.js';
import type { ScheduleDto, ScheduleSet } from '../../schemas/billing/schedule.js';
import { changeBillingSchedule, setBillingSchedule } from './billing-schedule.js';

/** How long Temporal may take for all of it: others wait for the same schedule. */
const waitMs = 10_000;

/** What a schedule is where nothing else is said; that of the command line, too. */
const atFirst: ScheduleTimes = { every: 'Monthly', hour: 1, paused: false };

/** 503: Temporal does not answer. */
async function askTemporal<T>({ temporal }: Platform, work: () => Promise<T>): Promise<T> {
  try {
    return await temporal.waiter.withDeadline(Date.now() + waitMs, work);
  } catch (error) {
    throw error instanceof Problem ? error : temporalProblem(error);
  }
}

function present(
  job: ScheduledJob,
  { every, hour, paused }: ScheduleTimes,
  now: Date,
): ScheduleDto {
  const common = { job, every, hour, paused };
  if (paused) return { ...common, nextAt: null, periodStart: null, periodEnd: null };
  const next = nextOccurrence(every, hour, now);
  return { ...common, nextAt: next.toISOString(), ...periodBefore(every, utcDate(next)) };
}

const isSame = (one: ScheduleTimes, other: ScheduleTimes): boolean =>
  one.every === other.every && one.hour === other.hour && one.paused === other.paused;

/** The schedules of a tenant. */
export async function listSchedules(scope: Scope, platform: Platform) {
  const schedules: ScheduleDto[] = [];
  const { temporal } = platform;
  for (const job of scheduledJobs) {
    const times = await askTemporal(platform, () => readSchedule(temporal, scope.tenantId, job));
    if (times) schedules.push(present(job, times, scope.now()));
  }
  return { schedules };
}

/**
 * Changes a schedule, one change at a time, and writes who did it into the audit of the tenant: where
 * Temporal refuses, neither is done. `work` returns what it is afterwards; null: it is gone.
 */
async function change(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
  work: (before: ScheduleTimes | undefined) => Promise<ScheduleTimes | null>,
): Promise<ScheduleTimes | null> {
  const { tenantId, actor, requestId, callerRequestId } = scope;
  return scope.db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
      `schedule/${job}/${tenantId}`,
    ]);
    return askTemporal(platform, async () => {
      const before = await readSchedule(platform.temporal, tenantId, job);
      const after = await work(before);
      if (before !== undefined && after !== null && isSame(before, after)) return after;
      await recordSecurityEvent(trx, {
        tenantId,
        actor,
        requestId,
        callerRequestId,
        entity: 'schedule',
        entityKey: job,
        action: after === null ? 'delete' : before === undefined ? 'create' : 'update',
        ...(after === null ? {} : { details: { ...after } }),
      });
      return after;
    });
  });
}

/** Sets a schedule; what is not given stays as it is. */
export async function setSchedule(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
  given: ScheduleSet,
): Promise<ScheduleDto> {
  const { tenantId } = scope;
  const { waiter: client, taskQueue, signer } = platform.temporal;
  const { sandbox: isSandbox } = await getClock(scope);
  const after = await change(scope, platform, job, async (before) => {
    const wanted = { ...(before ?? atFirst), ...given };
    const { every, hour, paused } = wanted;
    if (before?.every !== every || before.hour !== hour) {
      const schedule = { tenantId, every, hour, paused, isSandbox };
      await setBillingSchedule({ client, taskQueue, signer }, schedule, job);
    } else if (before.paused !== paused) {
      await changeBillingSchedule(client, tenantId, paused ? 'pause' : 'resume', job);
    }
    return wanted;
  });
  return present(job, after ?? atFirst, scope.now());
}

/** Removes a schedule. 404: there is none. */
export async function removeSchedule(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
): Promise<void> {
  await change(scope, platform, job, async () => {
    const { waiter } = platform.temporal;
    if (!(await changeBillingSchedule(waiter, scope.tenantId, 'remove', job))) {
      throw problem.notFound(`There is no schedule of '${job}'.`);
    }
    return null;
  });
}
