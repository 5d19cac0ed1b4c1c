import { ScheduleNotFoundError } from '@temporalio/client';
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

/** When the billing runs or audits of a tenant begin. */
export interface ScheduleTimes {
  readonly every: ScheduleFrequency;
  /** Hour of the day in UTC. */
  readonly hour: number;
  readonly paused: boolean;
}

/** The schedule of a tenant as Temporal has it; undefined: there is none of ours. */
export async function readSchedule(
  { lister }: Pick<Temporal, 'lister'>,
  tenantId: string,
  job: ScheduledJob,
): Promise<ScheduleTimes | undefined> {
  const handle = lister.schedule.getHandle(scheduleIdOf(job, tenantId));
  const known = await handle.describe().catch((error: unknown) => {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  });
  if (known === undefined) return undefined;
  const { every: given } = (known.action.args?.[0] ?? {}) as { readonly every?: unknown };
  const every = scheduleFrequencies.find((each) => each === given);
  const hour = known.memo?.[scheduleHourMemo];
  if (every === undefined || typeof hour !== 'number') return undefined;
  return { every, hour, paused: known.state.paused };
}
