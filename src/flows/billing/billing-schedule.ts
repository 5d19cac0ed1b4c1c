import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import type { BillingScheduleInput } from '../../messages/billing-run.js';
import {
  scheduledJobs,
  scheduleHourMemo,
  scheduleIdOf,
  type ScheduledJob,
} from '../../messages/sandbox/sandbox-clock.js';
import { scheduledChildren, signatureMemo } from '../../messages/workflow-signature.js';
import {
  findSchedule,
  hourOfSpec,
  type ScheduleHour,
} from '../../platform/temporal/known-schedule.js';
import type { WorkflowSigner } from '../../platform/temporal/workflow-signature.js';

/** The workflows that schedules start: billing runs, and audits of usage. */
const jobs = {
  billing: { workflow: 'scheduleBilling', name: 'billing-schedule' },
  audit: { workflow: 'scheduleUsageAudit', name: 'audit-schedule' },
} as const;

export type { ScheduledJob };

/** The schedule of a tenant's billing runs or audits. */
export interface BillingSchedule extends BillingScheduleInput {
  /** Hour of the day in UTC. */
  readonly hour: number;
  /** Whether the tenant is a sandbox: its clock starts the work, and Temporal does not. */
  readonly isSandbox?: boolean;
  /** Left out: one that is there stays as it is, and a new one is not paused. */
  readonly paused?: boolean;
}

/** The Temporal client for schedules, and the signer of their workflows. */
export interface SchedulePlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly signer: WorkflowSigner;
}

/** A schedule as it is listed. */
export interface ListedSchedule {
  readonly tenantId: string;
  readonly note: string;
  readonly isPaused: boolean;
  readonly next: Date | undefined;
}

/** The first day after each period, at the hour; the run is for the period that has just ended. */
function calendarOf({ every, hour }: BillingSchedule) {
  if (every === 'Weekly') return { dayOfWeek: 'MONDAY' as const, hour };
  return every === 'Monthly' ? { dayOfMonth: 1, hour } : { hour };
}

async function optionsOf(
  job: ScheduledJob,
  schedule: BillingSchedule,
  { taskQueue, signer }: SchedulePlace,
): Promise<ScheduleOptions> {
  const { tenantId, every, hour } = schedule;
  const input: BillingScheduleInput = { tenantId, every };
  const type = jobs[job].workflow;
  const workflowId = `${tenantId}/${jobs[job].name}`;
  const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
  return {
    scheduleId: scheduleIdOf(job, tenantId),
    spec: schedule.isSandbox === true ? {} : { calendars: [calendarOf(schedule)] },
    action: {
      type: 'startWorkflow',
      workflowType: type,
      workflowId,
      // With the hour: that of a sandbox has no spec, and the memo of a schedule cannot be changed.
      memo: {
        [signatureMemo]: await signer.sign({ type, workflowId, input }),
        [scheduleHourMemo]: hour,
      },
      taskQueue,
      args: [input],
      // The child has the same attributes, so that the actor of an execution ended by Temporal is
      // known.
      typedSearchAttributes: new TypedSearchAttributes([
        { key: keyword('TenantId'), value: tenantId },
        { key: keyword('Actor'), value: scheduledChildren[type]?.actor ?? '' },
      ]),
    },
    // Periods run one after the other, including those that became due while the server was down.
    policies: { overlap: ScheduleOverlapPolicy.BUFFER_ALL, catchupWindow: '30 days' },
  };
}

/**
 * Sets a tenant's schedule of billing or audits, and returns whether it is paused: changing the
 * time of a paused schedule does not resume it.
 */
export async function setBillingSchedule(
  place: SchedulePlace,
  wanted: BillingSchedule,
  job: ScheduledJob = 'billing',
): Promise<{ isPaused: boolean }> {
  const { schedule } = place.client;
  const options = await optionsOf(job, wanted, place);
  let { paused = false } = wanted;
  try {
    await schedule.create({ ...options, state: { paused } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await schedule.getHandle(options.scheduleId).update(({ state }) => {
      ({ paused = state.paused } = wanted);
      // With its note: by it the end of a suspension knows what it had paused.
      return { ...options, state: { ...state, paused } };
    });
  }
  return { isPaused: paused };
}

/** What can be done to a tenant's schedule. */
export type ScheduleChange = 'pause' | 'resume' | 'remove' | 'trigger';

/** Changes a tenant's schedule; returns whether there is one. */
export async function changeBillingSchedule(
  { schedule }: Client,
  tenantId: string,
  change: ScheduleChange,
  job: ScheduledJob = 'billing',
): Promise<boolean> {
  const handle = schedule.getHandle(scheduleIdOf(job, tenantId));
  try {
    if (change === 'pause') await handle.pause();
    else if (change === 'resume') await handle.unpause();
    else if (change === 'trigger') await handle.trigger();
    else await handle.delete();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** The result of signing the schedules again. */
export interface SignedSchedules {
  readonly signed: number;
  /** Schedules whose signature no known key has made: the workflows that they start are refused. */
  readonly lost: readonly string[];
}

/**
 * Signs the workflows of these tenants' schedules with the current key: a step of key rotation. A
 * schedule without a signature of a known key was not made by this installation, and is left as it
 * is.
 */
export async function signSchedulesAgain(
  { client: { schedule }, signer }: SchedulePlace,
  tenantIds: readonly string[],
): Promise<SignedSchedules> {
  const lost: string[] = [];
  let signed = 0;
  const places = tenantIds.flatMap((id) => [
    scheduleIdOf('billing', id),
    scheduleIdOf('audit', id),
  ]);
  for (const place of places) {
    const handle = schedule.getHandle(place);
    const known = await handle.describe().catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    });
    if (known === undefined) continue;
    const { workflowType: type, workflowId = '', args = [], memo } = known.action;
    const input: unknown = args[0];
    const workflow = { type, workflowId, input };
    if (!(await signer.isSigned(workflow, memo?.[signatureMemo]))) {
      lost.push(place);
      continue;
    }
    const signature = await signer.sign(workflow);
    await handle.update((before) => ({
      ...before,
      action: { ...before.action, memo: { ...memo, [signatureMemo]: signature } },
    }));
    signed += 1;
  }
  return { signed, lost };
}

const noteOf = ({ every, hour }: ScheduleHour): string =>
  `${every}, at ${String(hour).padStart(2, '0')}:00 UTC`;

/** The schedules of all tenants, by tenant. */
export async function listBillingSchedules(
  lister: Client,
  job: ScheduledJob = 'billing',
): Promise<ListedSchedule[]> {
  const prefix = scheduleIdOf(job, '');
  const found: ListedSchedule[] = [];
  for await (const { scheduleId, spec, state, info } of lister.schedule.list()) {
    if (!scheduleId.startsWith(prefix)) continue;
    const tenantId = scheduleId.slice(prefix.length);
    // That of a sandbox has no spec.
    const times = hourOfSpec(spec) ?? (await findSchedule({ lister }, tenantId, job))?.times;
    found.push({
      tenantId,
      note: times === undefined ? 'cannot be read' : noteOf(times),
      isPaused: state.paused,
      next: info.nextActionTimes[0],
    });
  }
  return found.sort((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
}

/**
 * Note on schedules paused by a suspension; those paused by an operator before stay paused when it
 * ends.
 */
const heldNote = 'The tenant is suspended.';

/** Pauses the schedules of a suspended tenant, or resumes those paused by its suspension. */
export async function holdSchedules(
  { schedule }: Client,
  tenantId: string,
  isHeld: boolean,
): Promise<void> {
  for (const job of scheduledJobs) {
    const handle = schedule.getHandle(scheduleIdOf(job, tenantId));
    try {
      const { paused, note } = (await handle.describe()).state;
      if (isHeld && !paused) await handle.pause(heldNote);
      if (!isHeld && paused && note === heldNote) await handle.unpause();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }
}
