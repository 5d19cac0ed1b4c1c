import { periodBefore, nextOccurrence } from '../../kernel/time/schedule-calendar.js';
import { utcDate } from '../../kernel/time/date.js';
import { problem, Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import type { SecurityEvent } from '../../kernel/security-event.js';
import { recordSecurityEvent } from '../../access/security-events.js';
import { scheduledJobs, type ScheduledJob } from '../../messages/sandbox/sandbox-clock.js';
import {
  findSchedule,
  readSchedule,
  type ScheduleTimes,
} from '../../platform/temporal/known-schedule.js';
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

/** The schedules of a tenant, and the jobs whose schedule cannot be read (docs/decisions/0522). */
export async function listSchedules(scope: Scope, platform: Platform) {
  const schedules: ScheduleDto[] = [];
  const unreadable: ScheduledJob[] = [];
  const { temporal } = platform;
  for (const job of scheduledJobs) {
    const found = await askTemporal(platform, () => findSchedule(temporal, scope.tenantId, job));
    if (found?.times) schedules.push(present(job, found.times, scope.now()));
    else if (found) unreadable.push(job);
  }
  return { schedules, unreadable };
}

/** One change of a schedule of a tenant at a time. */
const inTurn = <T>(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
  work: () => Promise<T>,
): Promise<T> =>
  scope.db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
      `schedule/${job}/${scope.tenantId}`,
    ]);
    return askTemporal(platform, work);
  });

/**
 * Writes into the audit of the tenant who asks for which change, before Temporal is asked for it: what
 * Temporal has done is never without an entry, even where its answer is lost. By a connection of the
 * platform, of which some are free whatever waits for its turn.
 */
async function noteChange(
  { tenantId, actor, requestId, callerRequestId }: Scope,
  { database }: Platform,
  job: ScheduledJob,
  change: Pick<SecurityEvent, 'action' | 'details'>,
): Promise<void> {
  const { platform: db } = await database.cellOf(tenantId);
  const who = { tenantId, actor, requestId, callerRequestId };
  await recordSecurityEvent(db, { ...who, entity: 'schedule', entityKey: job, ...change });
}

/** Sets a schedule; what is not given stays as it is. 409: the one that is there cannot be read. */
export async function setSchedule(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
  given: ScheduleSet,
): Promise<ScheduleDto> {
  const { tenantId } = scope;
  const { waiter: client, taskQueue, signer } = platform.temporal;
  const { sandbox: isSandbox } = await getClock(scope);
  const after = await inTurn(scope, platform, job, async () => {
    const before = await readSchedule(platform.temporal, tenantId, job);
    const wanted = { ...(before ?? atFirst), ...given };
    const { every, hour, paused } = wanted;
    const isOtherTime = before?.every !== every || before.hour !== hour;
    if (!isOtherTime && before.paused === paused) return wanted;
    const action = before === undefined ? 'create' : 'update';
    await noteChange(scope, platform, job, { action, details: { ...wanted } });
    if (isOtherTime) {
      const schedule = { tenantId, every, hour, paused, isSandbox };
      await setBillingSchedule({ client, taskQueue, signer }, schedule, job);
    } else {
      await changeBillingSchedule(client, tenantId, paused ? 'pause' : 'resume', job);
    }
    return wanted;
  });
  return present(job, after, scope.now());
}

/** Removes a schedule, even one that cannot be read. 404: there is none. */
export async function removeSchedule(
  scope: Scope,
  platform: Platform,
  job: ScheduledJob,
): Promise<void> {
  const { temporal } = platform;
  await inTurn(scope, platform, job, async () => {
    if (!(await findSchedule(temporal, scope.tenantId, job))) {
      throw problem.notFound(`There is no schedule of '${job}'.`);
    }
    await noteChange(scope, platform, job, { action: 'delete' });
    await changeBillingSchedule(temporal.waiter, scope.tenantId, 'remove', job);
  });
}
