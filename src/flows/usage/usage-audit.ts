import { utcDate } from '../../kernel/time/date.js';
import { checkUsageAudit, type UsageAuditData } from '../../schemas/usage/usage-audit.js';
import type { FlowStart } from '../run-flow.js';

/** An audit to start. 400: the period is not valid, or not over. */
export function usageAudit(
  data: UsageAuditData,
  now: Date,
  idempotencyKey: string | null,
): FlowStart<'auditUsage'> {
  checkUsageAudit(data, utcDate(now));
  const { periodStart, periodEnd } = data;
  const samplePercent = data.samplePercent ?? 100;
  return {
    workflow: 'auditUsage',
    input: { periodStart, periodEnd, samplePercent },
    businessKey: (executionId) => `audit-usage/${periodStart}/${periodEnd}/${executionId}`,
    entityType: 'ratedTransaction',
    entityId: 'all',
    idempotencyKey,
    isLong: true,
    summary: `audit ${samplePercent} % of ${periodStart} to ${periodEnd}`,
  };
}
