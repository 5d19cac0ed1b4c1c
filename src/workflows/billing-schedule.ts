import { executeChild, uuid4, workflowInfo } from '@temporalio/workflow';
import type { BillingRunInput, BillingScheduleInput } from '../kernel/billing-run.js';
import { dayBefore, utcDate } from '../kernel/date.js';
import type { FlowRun } from '../kernel/flow-run.js';
import { periodOf } from '../kernel/period.js';
import type { runBilling } from './billing-run.js';

/** Bills the calendar period that ended last: what a tenant's schedule starts. */
export async function scheduleBilling({ tenantId, every }: BillingScheduleInput): Promise<void> {
  const { workflowId, runId, startTime } = workflowInfo();
  const last = dayBefore(periodOf(every, scheduledDate() ?? utcDate(startTime)).start);
  const input: BillingRunInput = {
    ...{ periodStart: periodOf(every, last).start, periodEnd: last, dryRun: false },
  };
  const executionId = uuid4();
  const run: FlowRun<BillingRunInput> = {
    ...{ executionId, tenantId, orgId: null, actor: 'billing-schedule', input },
    requestId: `${workflowId}/${runId}`,
  };
  await executeChild<typeof runBilling>('runBilling', {
    args: [run],
    workflowId: `${tenantId}/billing-run/${input.periodStart}/${last}/all/${executionId}`,
    memo: { executionId },
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: `bill ${input.periodStart} to ${last}`,
  });
}

/** The day for which the schedule meant it: it may start later, when the server was away. */
function scheduledDate(): string | undefined {
  const { searchAttributes } = workflowInfo();
  const at = searchAttributes['TemporalScheduledStartTime']?.[0];
  return at instanceof Date ? utcDate(at) : undefined;
}
