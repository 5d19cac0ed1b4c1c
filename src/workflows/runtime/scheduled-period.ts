import { executeChild, uuid4, workflowInfo } from '@temporalio/workflow';
import type { BillingRunInput, BillingScheduleInput } from '../../messages/billing-run.js';
import type { FlowRun } from '../../messages/flow-run.js';
import type { UsageAuditInput } from '../../messages/usage/usage-audit.js';
import { utcDate } from '../../kernel/time/date.js';
import { periodBefore, type SchedulePeriod } from '../../kernel/time/schedule-calendar.js';

/** The calendar period that had ended last when a schedule meant its workflow to start; inclusive. */
export function lastPeriod(every: BillingScheduleInput['every']): SchedulePeriod {
  const { startTime } = workflowInfo();
  return periodBefore(every, scheduledDate() ?? utcDate(startTime));
}

/** The day for which the schedule meant it: it may start later, when the server was away. */
function scheduledDate(): string | undefined {
  const { searchAttributes } = workflowInfo();
  const at = searchAttributes['TemporalScheduledStartTime']?.[0];
  return at instanceof Date ? utcDate(at) : undefined;
}

interface Child<Input> {
  readonly actor: string;
  readonly input: Input;
  /** Of its workflow id, between the tenant and the execution. */
  readonly place: string;
  readonly summary: string;
}

/** Executes a workflow as the child of this one; `onBegun` is told the execution. */
async function executeForTenant<Input extends object>(
  workflow: string,
  tenantId: string,
  { actor, input, place, summary }: Child<Input>,
  onBegun: (executionId: string) => void,
): Promise<void> {
  const { workflowId, runId, typedSearchAttributes } = workflowInfo();
  const executionId = uuid4();
  onBegun(executionId);
  const requestId = `${workflowId}/${runId}`;
  const run: FlowRun<Input> = { executionId, tenantId, orgId: null, actor, input, requestId };
  await executeChild<(run: FlowRun<Input>) => Promise<unknown>>(workflow, {
    args: [run],
    workflowId: `${tenantId}/${place}/${executionId}`,
    memo: { executionId },
    typedSearchAttributes,
    staticSummary: summary,
  });
}

/** Bills a period of a tenant. */
export function billPeriod(
  tenantId: string,
  period: SchedulePeriod,
  onBegun: (executionId: string) => void = () => undefined,
): Promise<void> {
  const { periodStart, periodEnd } = period;
  const input: BillingRunInput = { ...period, dryRun: false };
  const place = `billing-run/${periodStart}/${periodEnd}/all`;
  const summary = `bill ${periodStart} to ${periodEnd}`;
  const child = { actor: 'billing-schedule', input, place, summary };
  return executeForTenant('runBilling', tenantId, child, onBegun);
}

/** Audits the usage of a period of a tenant. */
export function auditPeriod(
  tenantId: string,
  period: SchedulePeriod,
  onBegun: (executionId: string) => void = () => undefined,
): Promise<void> {
  const { periodStart, periodEnd } = period;
  const input: UsageAuditInput = { ...period, samplePercent: 100 };
  const place = `audit-usage/${periodStart}/${periodEnd}`;
  const summary = `audit ${periodStart} to ${periodEnd}`;
  const child = { actor: 'audit-schedule', input, place, summary };
  return executeForTenant('auditUsage', tenantId, child, onBegun);
}
