import type { BillingScheduleInput } from '../../messages/billing-run.js';
import {
  changeBillingSchedule,
  listBillingSchedules,
  setBillingSchedule,
  type ScheduleChange,
  type ScheduledJob,
} from '../../flows/billing/billing-schedule.js';
import { requireTenant } from '../../access/tenants.js';
import { readTenantClock } from '../../models/sandbox/sandbox-clock.js';
import { withInstance } from '../start/instance.js';
import { withTemporal } from '../start/temporal-access.js';

export interface ScheduleOptions {
  readonly every: BillingScheduleInput['every'];
  readonly hour: number;
}

export async function setSchedule(
  job: ScheduledJob,
  tenantId: string,
  options: ScheduleOptions,
): Promise<void> {
  const isSandbox = await withInstance(async ({ database }) => {
    await requireTenant(database.platform, tenantId);
    const { platform } = await database.cellOf(tenantId);
    return (await readTenantClock(platform, tenantId)) !== undefined;
  });
  const { isPaused } = await withTemporal((place) =>
    setBillingSchedule(place, { tenantId, ...options, isSandbox }, job),
  );
  const done = job === 'billing' ? 'billed' : 'audited';
  process.stdout.write(`${tenantId} is ${done}: ${options.every}${isPaused ? ' (paused)' : ''}\n`);
}

const done: Readonly<Record<ScheduleChange, string>> = {
  pause: 'paused',
  resume: 'resumed',
  trigger: 'started',
  remove: 'removed',
};

export async function changeSchedule(
  job: ScheduledJob,
  tenantId: string,
  change: ScheduleChange,
): Promise<void> {
  await withInstance(({ database }) => requireTenant(database.platform, tenantId));
  const isThere = await withTemporal(({ client }) =>
    changeBillingSchedule(client, tenantId, change, job),
  );
  if (!isThere) throw new Error(`The tenant '${tenantId}' has no schedule.`);
  process.stdout.write(`${done[change]} the schedule of ${tenantId}\n`);
}

export async function printSchedules(job: ScheduledJob): Promise<void> {
  const schedules = await withTemporal(({ lister }) => listBillingSchedules(lister, job));
  for (const { tenantId, note, isPaused, next } of schedules) {
    const state = isPaused ? 'paused' : `next ${next?.toISOString() ?? 'never'}`;
    process.stdout.write(`${tenantId}\t${note}\t${state}\n`);
  }
}
