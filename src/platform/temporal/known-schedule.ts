import {
  ScheduleNotFoundError,
  type ScheduleDescription,
  type ScheduleSummary,
} from '@temporalio/client';
import { problem } from '../../kernel/problem.js';
import {
  scheduleFrequencies,
  type ScheduleFrequency,
} from '../../kernel/time/schedule-calendar.js';
import {
  scheduleHourMemo,
  scheduleIdOf,
  type ScheduledJob,
} from '../../messages/sandbox/sandbox-clock.js';
import type { Temporal } from './temporal.js';

/** Which period the billing runs or audits of a tenant are for, and when they begin. */
export interface ScheduleHour {
  readonly every: ScheduleFrequency;
  /** Hour of the day in UTC. */
  readonly hour: number;
}

/** When the billing runs or audits of a tenant begin. */
export interface ScheduleTimes extends ScheduleHour {
  readonly paused: boolean;
}

/** What a field of a calendar is; undefined: it is more than one. */
function only<T>(ranges: readonly { readonly start: T; readonly end: T }[]): T | undefined {
  const [range, ...others] = ranges;
  return others.length === 0 && range?.start === range?.end ? range?.start : undefined;
}

/** When a schedule is due by its spec; undefined: it has none, or not one of ours. */
export function hourOfSpec(spec: ScheduleSummary['spec']): ScheduleHour | undefined {
  const { calendars: [calendar, ...others] = [], intervals = [] } = spec ?? {};
  if (calendar === undefined || others.length + intervals.length > 0) return undefined;
  const hour = only(calendar.hour);
  if (hour === undefined) return undefined;
  if (only(calendar.dayOfMonth) !== undefined) return { every: 'Monthly', hour };
  return { every: only(calendar.dayOfWeek) === undefined ? 'Daily' : 'Weekly', hour };
}

function timesOf({ spec, action, memo, state }: ScheduleDescription): ScheduleTimes | undefined {
  const { every: given } = (action.args?.[0] ?? {}) as { readonly every?: unknown };
  const every = scheduleFrequencies.find((each) => each === given);
  if (every === undefined) return undefined;
  const { paused } = state;
  const { calendars = [], intervals = [] } = spec;
  if (calendars.length + intervals.length > 0) {
    const due = hourOfSpec(spec);
    return due?.every === every ? { ...due, paused } : undefined;
  }
  // That of a sandbox is never due by itself. Earlier versions wrote into the schedule's own memo,
  // which cannot be changed.
  const hour = action.memo?.[scheduleHourMemo] ?? memo?.[scheduleHourMemo];
  return typeof hour === 'number' ? { every, hour, paused } : undefined;
}

/** A schedule that is there; without `times` where it cannot be read. */
export interface FoundSchedule {
  readonly times: ScheduleTimes | undefined;
}

/** The schedule of a tenant as Temporal has it; undefined: there is none. */
export async function findSchedule(
  { lister }: Pick<Temporal, 'lister'>,
  tenantId: string,
  job: ScheduledJob,
): Promise<FoundSchedule | undefined> {
  try {
    const handle = lister.schedule.getHandle(scheduleIdOf(job, tenantId));
    return { times: timesOf(await handle.describe()) };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

/** When the schedule of a tenant begins its work; undefined: there is none. 409: it cannot be read. */
export async function readSchedule(
  temporal: Pick<Temporal, 'lister'>,
  tenantId: string,
  job: ScheduledJob,
): Promise<ScheduleTimes | undefined> {
  const found = await findSchedule(temporal, tenantId, job);
  if (found === undefined || found.times !== undefined) return found?.times;
  throw problem.conflict(
    `The schedule of '${job}' was changed in Temporal itself and cannot be read: remove it and set it anew.`,
  );
}
