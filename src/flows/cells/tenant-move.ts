import type { Client } from '@temporalio/client';
import {
  moveProgressQuery,
  tenantMoveId,
  type MoveProgress,
  type TenantMove,
} from '../../messages/cells/tenant-move.js';
import type { SchedulePlace } from '../billing/billing-schedule.js';
import { startByOperator } from '../start-by-operator.js';

/** Starts the move of a tenant; false: one is under way. */
export const startTenantMove = (place: SchedulePlace, move: TenantMove): Promise<boolean> =>
  startByOperator(place, {
    type: 'moveTenant',
    workflowId: tenantMoveId(move.tenantId),
    input: move,
    summary: `move ${move.tenantId} to the cell ${move.to}`,
  });

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
