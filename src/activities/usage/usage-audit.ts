import { endUsageAudit, type UsageAuditEnd } from '../../commands/usage/usage-audit-end.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  CounterAudit,
  UsageAuditInput,
  UsageAuditPage,
} from '../../messages/usage/usage-audit.js';
import {
  listDroppedMonths,
  monthsOfDays,
  refuseArchived,
} from '../../models/usage/finding/dropped-month.js';
import type { Platform } from '../../process/platform.js';
import {
  auditCharges,
  auditSums,
  type AuditPageRequest,
} from '../../queries/usage/audit/usage-audit.js';
import { flowStep, type StepCall } from '../flows/flow-step.js';
import { alive } from '../long-steps-at-once.js';
import { workflowScope } from '../scope.js';

export function usageAuditActivities(platform: Platform) {
  const scopeOf = ({ run }: StepCall<unknown>): Promise<Scope> =>
    workflowScope(platform, run.tenantId, run.actor);
  return {
    /** Begins an audit: from now on its execution can be read. 409: usage of it is in the archive. */
    beginUsageAudit: flowStep(platform, async (scope, input: UsageAuditInput) => {
      const months = await listDroppedMonths(scope.db.read, scope.tenantId);
      refuseArchived(monthsOfDays(months, { from: input.periodStart, last: input.periodEnd }));
      return input;
    }),

    /** Computes a page of charges again. */
    auditUsageCharges: (call: StepCall<AuditPageRequest>): Promise<UsageAuditPage> =>
      alive(call.run.tenantId, async () => auditCharges(await scopeOf(call), call.input)),

    /** Compares the counters and the totals of a period. */
    auditUsageCounters: (call: StepCall<UsageAuditInput>): Promise<CounterAudit> =>
      alive(call.run.tenantId, async () => auditSums(await scopeOf(call), call.input)),

    /** Ends an audit, and raises an alarm if there are differences. */
    endUsageAudit: flowStep(platform, async (scope, end: UsageAuditEnd) => {
      const output = await endUsageAudit(scope, end);
      const { differenceCount, differences } = end.result;
      if (differenceCount > 0) {
        platform.metrics.auditDifferences.inc(differenceCount);
        const { tenantId } = scope;
        const { executionId } = end;
        const [first] = differences;
        platform.log.error(
          { tenantId, executionId, differenceCount, first },
          'an audit found recorded amounts or counters that differ from what they come to',
        );
      }
      return output;
    }),
  };
}
