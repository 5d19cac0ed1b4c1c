import type { Platform } from '../platform/platform.js';
import { accountActivities } from './account.js';
import { billingRunActivities } from './billing-run.js';
import { contractActivities } from './contract.js';
import { executionActivities } from './execution.js';
import { invoicePdfActivities } from './invoice-pdf.js';
import { paymentActivities } from './payment.js';
import { serviceActivities } from './service.js';
import { signingActivities } from './sign-child.js';
import { usageAuditActivities } from './usage-audit.js';
import { usageActivities, type OnRated } from './usage.js';
import { webhookActivities, type OnDelivered } from './webhook.js';

/** Every activity, on the connections of this process. */
export function createActivities(
  platform: Platform,
  { onRated, onDelivered }: { onRated: OnRated; onDelivered: OnDelivered },
) {
  return {
    ...webhookActivities(platform, onDelivered),
    ...usageActivities(platform, onRated),
    ...executionActivities(platform),
    ...accountActivities(platform),
    ...contractActivities(platform),
    ...serviceActivities(platform),
    ...paymentActivities(platform),
    ...billingRunActivities(platform),
    ...invoicePdfActivities(platform),
    ...usageAuditActivities(platform),
    ...signingActivities(platform),
  };
}

export type Activities = ReturnType<typeof createActivities>;
