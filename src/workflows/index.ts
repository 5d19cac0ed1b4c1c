/** Every workflow; the name of an export is its type in Temporal. */
export { approveAccount, createAccount, deleteAccount, editAccount } from './account.js';
export { runBilling } from './billing-run.js';
export { scheduleBilling } from './billing-schedule.js';
export { approveContract, createContract, deleteContract, editContract } from './contract.js';
export { deletePayment, editPayment, savePayment } from './payment.js';
export {
  approveService,
  cloneService,
  createService,
  deleteService,
  editService,
} from './service.js';
export { rateUsage, retryUsage } from './usage.js';
export { auditUsage, scheduleUsageAudit } from './usage-audit.js';
export { deliverWebhook } from './webhook.js';
