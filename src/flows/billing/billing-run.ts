import { temporalWorkflowId } from '../../messages/flow-batch.js';
import { progressQueryName, type BillingProgress } from '../../messages/billing-run.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import { readBillingRun, type BillingRunDto } from '../../queries/billing/runs/read-billing-run.js';
import { checkBillingRun, type BillingRunData } from '../../schemas/billing/billing-run.js';
import type { FlowStart } from '../run-flow.js';

/**
 * A billing run to start. Two runs of one period may run in parallel: charges billed by one are not
 * selected by the other (docs/decisions/0105). 400: the period is not valid.
 */
export function billingRun(
  data: BillingRunData,
  idempotencyKey: string | null,
): FlowStart<'runBilling'> {
  checkBillingRun(data);
  const { periodStart, periodEnd, accountId, dryRun } = data;
  const isDryRun = dryRun === true;
  return {
    workflow: 'runBilling',
    input: {
      periodStart,
      periodEnd,
      dryRun: isDryRun,
      ...(accountId === undefined || accountId === null ? {} : { accountId }),
    },
    businessKey: (executionId) =>
      `billing-run/${periodStart}/${periodEnd}/${accountId ?? 'all'}/${executionId}`,
    entityType: 'invoice',
    entityId: accountId ?? 'all',
    idempotencyKey,
    isLong: true,
    summary: `bill ${periodStart} to ${periodEnd}${isDryRun ? ' (dry run)' : ''}`,
  };
}

/** Whoever looks does not wait longer for what a workflow says of itself. */
const progressMs = 2_000;

/** A billing run; while it runs with how far it is, where its workflow says so. 404: there is none. */
export async function showBillingRun(
  scope: Scope,
  { temporal: { waiter } }: Platform,
  id: string,
): Promise<BillingRunDto> {
  const { run, record } = await readBillingRun(scope, id);
  if (record.status !== 'running') return run;
  const handle = waiter.workflow.getHandle(temporalWorkflowId(record.workflowId));
  const progress = await waiter
    .withDeadline(Date.now() + progressMs, () =>
      handle.query<BillingProgress | null>(progressQueryName),
    )
    .catch(() => null);
  return { ...run, progress };
}
