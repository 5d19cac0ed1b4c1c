import type { Knex } from 'knex';
import { definitionOf } from '../../messages/definitions/definition-run.js';
import type { ExecutionStatus } from '../../messages/flow-run.js';
import { Approval } from '../../models/workflows/approval.js';
import { WorkflowListeners } from '../../models/workflows/listener.js';
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
 * (docs/decisions/0090). What one of a tenant's workflow waited for ends with it.
 */
export async function recordWorkflowEnds(
  trx: Knex.Transaction,
  from: WebhookOrigin,
  ends: readonly WorkflowEnd[],
): Promise<void> {
  const defined = ends.filter(({ workflow }) => definitionOf(workflow) !== undefined);
  if (defined.length > 0) {
    const ids = defined.map(({ executionId }) => executionId);
    await Approval.closeOf(trx, from.tenantId, ids, new Date());
    await WorkflowListeners.closeOf(trx, from.tenantId, ids);
  }
  const event = 'workflow.completed';
  await recordWebhookEvents(trx, from, [event], () =>
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
