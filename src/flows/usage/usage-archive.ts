import type { Client } from '@temporalio/client';
import { usageArchiveId, type UsageArchive } from '../../messages/ageing/usage-archive.js';
import {
  usageDropId,
  usageRestoreId,
  type UsageDrop,
  type UsageDropped,
} from '../../messages/ageing/usage-drop.js';
import type { SchedulePlace } from '../billing-schedule.js';
import { startByOperator } from '../start-by-operator.js';

/** Starts to archive a month; false: that is under way. */
export const startUsageArchive = (place: SchedulePlace, archive: UsageArchive): Promise<boolean> =>
  startByOperator(place, {
    type: 'archiveUsage',
    workflowId: usageArchiveId(archive),
    input: archive,
    summary: `archive the usage of ${archive.tenantId} of ${archive.month}`,
  });

/** Waits until a month is archived; returns how many rows there are, or throws why it is not. */
export const waitForUsageArchive = (client: Client, archive: UsageArchive): Promise<number> =>
  client.workflow.getHandle(usageArchiveId(archive)).result() as Promise<number>;

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
  client.workflow.getHandle(usageDropId(drop)).result() as Promise<UsageDropped>;

/** Starts to bring a month back from its archive; false: that is under way. */
export const startUsageRestore = (place: SchedulePlace, archive: UsageArchive): Promise<boolean> =>
  startByOperator(place, {
    type: 'restoreUsage',
    workflowId: usageRestoreId(archive),
    input: archive,
    summary: `restore the usage of ${archive.tenantId} of ${archive.month}`,
  });

/** Waits until a month is back; returns how many rows it has, or throws why it is not. */
export const waitForUsageRestore = (client: Client, archive: UsageArchive): Promise<number> =>
  client.workflow.getHandle(usageRestoreId(archive)).result() as Promise<number>;
