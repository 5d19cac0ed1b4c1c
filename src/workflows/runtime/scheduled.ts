import { executeChild, uuid4, workflowInfo } from '@temporalio/workflow';
import type { BillingRunInput } from '../../messages/billing-run.js';
import type { FlowRun } from '../../messages/flow-run.js';
import type { UsageAuditInput } from '../../messages/usage-audit.js';
import type { SchedulePeriod } from '../../kernel/time/schedule-calendar.js';

type Child<Input> = (run: FlowRun<Input>) => Promise<unknown>;

const runOf = <Input extends object>(
  tenantId: string,
  actor: string,
  input: Input,
): FlowRun<Input> => {
  const { workflowId, runId } = workflowInfo();
  const requestId = `${workflowId}/${runId}`;
  return { executionId: uuid4(), tenantId, orgId: null, actor, input, requestId };
};

/** Bills a period as the child of this workflow; `onBegun` is told the execution. */
export async function billPeriod(
  tenantId: string,
  period: SchedulePeriod,
  onBegun: (executionId: string) => void = () => undefined,
): Promise<void> {
  const input: BillingRunInput = { ...period, dryRun: false };
  const run = runOf(tenantId, 'billing-schedule', input);
  const { executionId } = run;
  onBegun(executionId);
  const { periodStart, periodEnd } = period;
  await executeChild<Child<BillingRunInput>>('runBilling', {
    args: [run],
    workflowId: `${tenantId}/billing-run/${periodStart}/${periodEnd}/all/${executionId}`,
    memo: { executionId },
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: `bill ${periodStart} to ${periodEnd}`,
  });
}

/** Audits the usage of a period as the child of this workflow. */
export async function auditPeriod(
  tenantId: string,
  period: SchedulePeriod,
  onBegun: (executionId: string) => void = () => undefined,
): Promise<void> {
  const input: UsageAuditInput = { ...period, samplePercent: 100 };
  const run = runOf(tenantId, 'audit-schedule', input);
  const { executionId } = run;
  onBegun(executionId);
  const { periodStart, periodEnd } = period;
  await executeChild<Child<UsageAuditInput>>('auditUsage', {
    args: [run],
    workflowId: `${tenantId}/audit-usage/${periodStart}/${periodEnd}/${executionId}`,
    memo: { executionId },
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: `audit ${periodStart} to ${periodEnd}`,
  });
}
