/** Every workflow; the name of an export is its type in Temporal. Files of flows export nothing else. */
export * from './account.js';
export { runDefinition } from './definitions/run-definition.js';
export { decideApproval } from './definitions/decide-approval.js';
export { runBilling } from './billing/billing-run.js';
export { scheduleBilling } from './billing/billing-schedule.js';
export * from './contract.js';
export { creditInvoice } from './billing/credit-note.js';
export { runFlowBatch } from './flow-batch.js';
export * from './payment.js';
export * from './service.js';
export { moveClock } from './sandbox/sandbox-clock.js';
export { moveTenant } from './cells/tenant-move.js';
export {
  amendUsageEvent,
  cancelUsageEvent,
  dismissUsageEvents,
  rerateUsage,
} from './usage/correct-usage.js';
export { rateUsage } from './usage/rate-usage.js';
export { promoteRepricing, repriceUsage } from './usage/reprice-usage.js';
export { retryUsage } from './usage/retry-usage.js';
export { erasePerson } from './ageing/erasure.js';
export { archiveUsage, dropUsage, restoreUsage } from './ageing/usage-archive.js';
export { auditUsage, scheduleUsageAudit } from './usage/usage-audit.js';
export { deliverWebhook } from './webhooks/deliver-webhook.js';
