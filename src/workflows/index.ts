/** Every workflow; the name of an export is its type in Temporal. */
export { deletePayment, editPayment, savePayment } from './payment.js';
export { rateUsage, retryUsage } from './usage.js';
