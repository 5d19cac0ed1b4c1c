import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  type Client,
} from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import { usageArchiveId, type UsageArchive } from '../../messages/ageing/usage-archive.js';
import { signatureMemo } from '../../messages/workflow-signature.js';
import type { SchedulePlace } from '../billing-schedule.js';

const type = 'archiveUsage';

/** Starts to archive a month; false: that is under way. */
export async function startUsageArchive(
  { client, taskQueue, signer }: SchedulePlace,
  archive: UsageArchive,
): Promise<boolean> {
  const workflowId = usageArchiveId(archive);
  const keyword = (name: string, value: string) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  });
  try {
    await client.workflow.start(type, {
      workflowId,
      taskQueue,
      args: [archive],
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      memo: { [signatureMemo]: signer.sign({ type, workflowId, input: archive }) },
      staticSummary: `archive the usage of ${archive.tenantId} of ${archive.month}`,
      typedSearchAttributes: new TypedSearchAttributes([
        keyword('TenantId', archive.tenantId),
        keyword('Flow', type),
        keyword('EntityType', 'tenant'),
        keyword('EntityId', archive.tenantId),
        keyword('Actor', 'command-line'),
      ]),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** Waits until a month is archived; returns how many rows there are, or throws why it is not. */
export const waitForUsageArchive = (client: Client, archive: UsageArchive): Promise<number> =>
  client.workflow.getHandle(usageArchiveId(archive)).result() as Promise<number>;
