import { workflowInfo } from '@temporalio/workflow';
import type { BillingScheduleInput } from '../../messages/billing-run.js';
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
