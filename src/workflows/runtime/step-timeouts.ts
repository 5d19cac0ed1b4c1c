import {
  proxyActivities,
  proxyLocalActivities,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';

/**
 * Short steps: a local activity is one transaction, tried a few times within the workflow task. What
 * lasts longer (a database that is away) is waited for by the workflow, where people can see it.
 */
const shortStep: LocalActivityOptions = {
  startToCloseTimeout: '30 s',
  retry: {
    initialInterval: '50 ms',
    backoffCoefficient: 4,
    maximumInterval: '1 s',
    maximumAttempts: 3,
  },
};

export const shortSteps = proxyLocalActivities<Activities>(shortStep);

/**
 * Long steps: any worker takes them, and sends heartbeats; one that was killed is noticed within
 * seconds.
 */
export const longSteps = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 4, maximumAttempts: 3 },
});

/**
 * Corrections of rated usage: one transaction each, which may take long and waits for those before it.
 * One whose worker was killed begins anew: nobody has seen anything of it.
 */
export const longCorrections = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 4, maximumAttempts: 10 },
});
