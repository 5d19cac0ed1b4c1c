import { executeChild, uuid4, workflowInfo } from '@temporalio/workflow';
import type { BillingRunInput, BillingScheduleInput } from '../messages/billing-run.js';
import type { FlowRun } from '../messages/flow-run.js';
import type { runBilling } from './billing-run.js';
import { lastPeriod } from './runtime/schedule.js';

/** Bills the calendar period that ended last: what a tenant's schedule starts. */
export async function scheduleBilling({ tenantId, every }: BillingScheduleInput): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  const input: BillingRunInput = { ...lastPeriod(every), dryRun: false };
  const executionId = uuid4();
  const run: FlowRun<BillingRunInput> = {
    executionId,
    tenantId,
    orgId: null,
    actor: 'billing-schedule',
    input,
    requestId: `${workflowId}/${runId}`,
  };
  await executeChild<typeof runBilling>('runBilling', {
    args: [run],
    workflowId: `${tenantId}/billing-run/${input.periodStart}/${input.periodEnd}/all/${executionId}`,
    memo: { executionId },
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: `bill ${input.periodStart} to ${input.periodEnd}`,
  });
}
