import {
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { webhookQueue, type WebhookDeliveryRun } from '../../messages/webhook.js';

/** An attempt ends by its own time limit; Temporal repeats it when its worker or database is away. */
const attempt = {
  startToCloseTimeout: '30 s',
  retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s' },
} satisfies ActivityOptions;

/** A tenth more or less, so that what failed together does not come back together. */
const withJitter = (ms: number): number => Math.round(ms * (0.9 + 0.2 * Math.random()));

const busyMsMin = 1_000;
const busyMsMax = 60_000;

/**
 * Delivers an event to a webhook: tries until an attempt succeeds or the schedule ends. What becomes
 * of it is written by the attempts; this only keeps the time.
 */
export async function deliverWebhook(run: WebhookDeliveryRun): Promise<void> {
  const { delaysMs, ...delivery } = run;
  const { sendWebhook } = proxyActivities<Activities>({
    ...attempt,
    taskQueue: webhookQueue(workflowInfo().taskQueue),
  });
  let { number } = run;
  for (let busyMs = busyMsMin; ;) {
    const next = delaysMs[number];
    const retryInMs = next === undefined ? null : withJitter(next);
    const end = await sendWebhook({ ...delivery, number, retryInMs });
    if (end === 'done') return;
    if (end === 'busy') {
      await sleep(withJitter(busyMs), { summary: 'the webhook has many attempts under way' });
      busyMs = Math.min(2 * busyMs, busyMsMax);
    } else {
      if (retryInMs === null) return;
      await sleep(retryInMs, { summary: `attempt ${number} failed` });
      number += 1;
      busyMs = busyMsMin;
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof deliverWebhook>({ ...run, number });
    }
  }
}
