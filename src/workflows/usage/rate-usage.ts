import type { UsageRange, UsageRangeResult } from '../../messages/usage-workflow.js';
import { mayPass, persist } from '../runtime/repeat-while-away.js';
import { shortSteps } from '../runtime/step-timeouts.js';

/** Failures of a range after which it ends: each is of three attempts. */
const failuresMax = 2;

/**
 * Rates a stretch of the usage log, or the first part of one that takes long. What fails again and again
 * ends as failed: the consumer tries it later, and meanwhile its place is another's
 * (docs/decisions/0187-ranges-that-can-never-be-rated.md).
 */
export function rateUsage(range: UsageRange): Promise<UsageRangeResult> {
  return persist(() => shortSteps.rateUsageRange(range), {
    isWorthIt: mayPass,
    isEnough: (failures) => failures >= failuresMax,
    restart: () => range,
  });
}
