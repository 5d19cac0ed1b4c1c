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
import {
  moveProgressQuery,
  tenantMoveId,
  type MoveProgress,
  type TenantMove,
} from '../messages/cells/tenant-move.js';
import { signatureMemo } from '../messages/workflow-signature.js';
import type { SchedulePlace } from './billing-schedule.js';

const type = 'moveTenant';

/** Starts the move of a tenant; false: one is under way. */
export async function startTenantMove(
  { client, taskQueue, signer }: SchedulePlace,
  move: TenantMove,
): Promise<boolean> {
  const { tenantId, to } = move;
  const workflowId = tenantMoveId(tenantId);
  const keyword = (name: string, value: string) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  });
  try {
    await client.workflow.start(type, {
      workflowId,
      taskQueue,
      args: [move],
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      memo: { [signatureMemo]: signer.sign({ type, workflowId, input: move }) },
      staticSummary: `move ${tenantId} to the cell ${to}`,
      typedSearchAttributes: new TypedSearchAttributes([
        keyword('TenantId', tenantId),
        keyword('Flow', type),
        keyword('EntityType', 'tenant'),
        keyword('EntityId', tenantId),
        keyword('Actor', 'command-line'),
      ]),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** How far the move of a tenant is. */
export const readTenantMove = (client: Client, tenantId: string): Promise<MoveProgress> =>
  client.workflow.getHandle(tenantMoveId(tenantId)).query<MoveProgress>(moveProgressQuery);

/** Takes a move back that has not flipped the directory yet. */
export async function cancelTenantMove(client: Client, tenantId: string): Promise<void> {
  await client.workflow.getHandle(tenantMoveId(tenantId)).cancel();
}

/** Whether the workflow of a tenant's move still runs; throws the reason for which it has failed. */
export async function isMoveRunning(client: Client, tenantId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(tenantMoveId(tenantId));
  const { status } = await handle.describe();
  if (status.name === 'RUNNING') return true;
  await handle.result();
  return false;
}
