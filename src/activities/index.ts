import type { Platform } from '../platform/platform.js';
import { executionActivities } from './execution.js';
import { paymentActivities } from './payment.js';
import { usageActivities, type OnRated } from './usage.js';

/** Every activity, on the connections of this process. */
export function createActivities(platform: Platform, { onRated }: { onRated: OnRated }) {
  return {
    ...usageActivities(platform, onRated),
    ...executionActivities(platform),
    ...paymentActivities(platform),
  };
}

export type Activities = ReturnType<typeof createActivities>;
