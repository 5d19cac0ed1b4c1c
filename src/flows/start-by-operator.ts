import { WorkflowExecutionAlreadyStartedError, WorkflowIdConflictPolicy } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import { signatureMemo } from '../messages/workflow-signature.js';
import type { SchedulePlace } from './billing/billing-schedule.js';

/** A workflow for a tenant that an operator starts from the command line. */
export interface OperatedWorkflow {
  readonly type: string;
  /** Its business key: there is one of it at a time. */
  readonly workflowId: string;
  readonly input: { readonly tenantId: string };
  /** What the Temporal UI says of it. */
  readonly summary: string;
}

/** Starts a workflow from the command line, signed; false: one of that id is under way. */
export async function startByOperator(
  { client, taskQueue, signer }: SchedulePlace,
  { type, workflowId, input, summary }: OperatedWorkflow,
): Promise<boolean> {
  const keyword = (name: string, value: string) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  });
  try {
    await client.workflow.start(type, {
      workflowId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      memo: { [signatureMemo]: await signer.sign({ type, workflowId, input }) },
      staticSummary: summary,
      typedSearchAttributes: new TypedSearchAttributes([
        keyword('TenantId', input.tenantId),
        keyword('Flow', type),
        keyword('EntityType', 'tenant'),
        keyword('EntityId', input.tenantId),
        keyword('Actor', 'command-line'),
      ]),
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
