/** Every workflow; the name of an export is its type in Temporal. */
export { rateUsage, retryUsage } from './usage.js';
