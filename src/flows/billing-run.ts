import { checkBillingRun, type BillingRunData } from '../schemas/billing/billing-run.js';
import type { FlowStart } from './run-flow.js';

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
