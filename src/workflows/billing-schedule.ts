import type { BillingScheduleInput } from '../messages/billing-run.js';
import { lastPeriod } from './runtime/schedule.js';
import { billPeriod } from './runtime/scheduled.js';

/** Bills the calendar period that ended last: what a tenant's schedule starts. */
export const scheduleBilling = ({ tenantId, every }: BillingScheduleInput): Promise<void> =>
  billPeriod(tenantId, lastPeriod(every));
