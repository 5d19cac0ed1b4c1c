import type { Knex } from 'knex';
import type { ExecutionStatus } from '../../messages/flow-run.js';
import { workflowIdOf } from '../../schemas/flows/flow-id.js';
import { recordWebhookEvents, type WebhookOrigin } from '../webhooks/webhook-event.js';

/** How an execution of a workflow ended. */
export interface WorkflowEnd {
  readonly executionId: string;
  /** The workflow's type in Temporal. */
  readonly workflow: string;
  readonly status: ExecutionStatus;
  readonly output: unknown;
}

/**
 * Records a webhook event for the end of each execution, whatever its outcome
 * (docs/decisions/0090).
 */
export function recordWorkflowEnds(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  ends: readonly WorkflowEnd[],
): Promise<void> {
  const event = 'workflow.completed';
  return recordWebhookEvents(trx, from, [event], () =>
    ends.map(({ executionId, workflow, status, output = null }) => ({
      event,
      recordId: executionId,
      data: { workflowId: workflowIdOf(workflow), executionId, status, output },
    })),
  );
}

/** The same for one execution. */
export const recordWorkflowEnd = (
  trx: Knex.Transaction,
  from: WebhookOrigin,
  end: WorkflowEnd,
): Promise<void> => recordWorkflowEnds(trx, from, [end]);
