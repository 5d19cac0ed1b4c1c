import { workflowInfo } from '@temporalio/workflow';
import type { BillingScheduleInput } from '../../messages/billing-run.js';
import { dayBefore, utcDate } from '../../kernel/time/date.js';
import { periodOf } from '../../kernel/time/period.js';

/** The calendar period that had ended last when a schedule meant its workflow to start; inclusive. */
export function lastPeriod(every: BillingScheduleInput['every']): {
  readonly periodStart: string;
  readonly periodEnd: string;
} {
  const { startTime } = workflowInfo();
  const periodEnd = dayBefore(periodOf(every, scheduledDate() ?? utcDate(startTime)).start);
  return { periodStart: periodOf(every, periodEnd).start, periodEnd };
}

/** The day for which the schedule meant it: it may start later, when the server was away. */
function scheduledDate(): string | undefined {
  const { searchAttributes } = workflowInfo();
  const at = searchAttributes['TemporalScheduledStartTime']?.[0];
  return at instanceof Date ? utcDate(at) : undefined;
}
