import type { BillingScheduleInput } from '../../messages/billing-run.js';
import { billPeriod, lastPeriod } from '../runtime/scheduled-period.js';

/** Bills the calendar period that ended last: what a tenant's schedule starts. */
export const scheduleBilling = ({ tenantId, every }: BillingScheduleInput): Promise<void> =>
  billPeriod(tenantId, lastPeriod(every));
