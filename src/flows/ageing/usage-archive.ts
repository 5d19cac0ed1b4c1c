import { WorkflowFailedError, type Client } from '@temporalio/client';
import { rootCause } from '@temporalio/common';
import { usageArchiveId, type UsageArchive } from '../../messages/ageing/usage-archive.js';
import {
  usageDropId,
  usageRestoreId,
  type UsageDrop,
  type UsageDropped,
} from '../../messages/ageing/usage-drop.js';
import type { SchedulePlace } from '../billing/billing-schedule.js';
import { startByOperator } from '../start-by-operator.js';

/** What a workflow ends with; where it fails, why. */
async function resultOf<Result>({ workflow }: Client, workflowId: string): Promise<Result> {
  try {
    return (await workflow.getHandle(workflowId).result()) as Result;
  } catch (error) {
    throw error instanceof WorkflowFailedError ? new Error(rootCause(error.cause)) : error;
  }
}

/** Starts work on a month of a tenant; false: that is under way. */
const startMonth =
  (type: string, idOf: (archive: UsageArchive) => string, verb: string) =>
  (place: SchedulePlace, archive: UsageArchive): Promise<boolean> =>
    startByOperator(place, {
      type,
      workflowId: idOf(archive),
      input: archive,
      summary: `${verb} the usage of ${archive.tenantId} of ${archive.month}`,
    });

/** Starts to archive a month; false: that is under way. */
export const startUsageArchive = startMonth('archiveUsage', usageArchiveId, 'archive');

/** Waits until a month is archived; returns how many rows there are, or throws why it is not. */
export const waitForUsageArchive = (client: Client, archive: UsageArchive): Promise<number> =>
  resultOf(client, usageArchiveId(archive));

/** Starts to drop an archived month of tenants from the database; false: that is under way. */
export const startUsageDrop = (place: SchedulePlace, drop: UsageDrop): Promise<boolean> =>
  startByOperator(place, {
    type: 'dropUsage',
    workflowId: usageDropId(drop),
    input: drop,
    summary: `drop the archived usage of ${drop.tenants.length} tenants of ${drop.month}`,
  });

/** Waits until a month is dropped, or throws why it is not. */
export const waitForUsageDrop = (client: Client, drop: UsageDrop): Promise<UsageDropped> =>
  resultOf(client, usageDropId(drop));

/** Starts to bring a month back from its archive; false: that is under way. */
export const startUsageRestore = startMonth('restoreUsage', usageRestoreId, 'restore');

/** Waits until a month is back; returns how many rows it has, or throws why it is not. */
export const waitForUsageRestore = (client: Client, archive: UsageArchive): Promise<number> =>
  resultOf(client, usageRestoreId(archive));
