import type { Knex } from 'knex';
import type { ExecutionStatus } from '../../messages/flow-run.js';
import { workflowIdOf } from '../../schemas/flows/flow-id.js';
import { recordWebhookEvent, type WebhookOrigin } from '../webhooks/webhook-event.js';

/** How an execution of a workflow ended. */
export interface WorkflowEnd {
  readonly executionId: string;
  /** The workflow's type in Temporal. */
  readonly workflow: string;
  readonly status: ExecutionStatus;
  readonly output: unknown;
}

/**
 * Records a webhook event for the end of an execution, whatever its outcome (docs/decisions/0090).
 */
export function recordWorkflowEnd(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  { executionId, workflow, status, output = null }: WorkflowEnd,
): Promise<void> {
  return recordWebhookEvent(trx, from, {
    event: 'workflow.completed',
    recordId: executionId,
    data: { workflowId: workflowIdOf(workflow), executionId, status, output },
  });
}
