import {
  claimDeliveries,
  reclaimDeliveries,
  watchDeliveriesSoon,
} from '../activities/webhooks/webhook.js';
import { webhookChannel, webhookQueue, type WebhookDeliveryRun } from '../messages/webhook.js';
import type { Platform } from '../process/platform.js';
import { startWorkflow } from '../platform/temporal/workflow-start.js';
import { Watch } from './watch.js';

/** Interval of polling for deliveries, in addition to notifications. */
const pollMs = 1_000;
/** Workflows that are started at the same time. */
const startsMax = 20;

type Claimed = Awaited<ReturnType<typeof claimDeliveries>>[number];

/**
 * Claims deliveries from the outbox and starts a workflow for each. It is stateless: a delivery
 * claimed by a process that then died is claimed again, and joins its workflow by the workflow id.
 */
export class WebhookDispatcher {
  readonly #platform: Platform;
  readonly #waiting: Watch;
  readonly #watches: readonly Watch[];
  readonly #stopListening: Promise<() => Promise<void>>;

  constructor(platform: Platform) {
    this.#platform = platform;
    const failure = 'cannot look for webhooks; trying again';
    this.#waiting = new Watch(platform, {
      everyMs: pollMs,
      failure,
      look: async (watch) => {
        // There may be more deliveries than one search may claim.
        while (!watch.isStopped && (await this.#startAll(await claimDeliveries(platform))));
      },
    });
    const lost = new Watch(platform, {
      everyMs: pollMs,
      failure,
      look: async () => void (await this.#startAll(await reclaimDeliveries(platform))),
    });
    this.#watches = [this.#waiting, lost];
    this.#stopListening = platform.listen(webhookChannel, this.wake).catch((error: unknown) => {
      platform.log.warn({ err: error }, 'cannot listen for webhooks; polling');
      return () => Promise.resolve();
    });
    this.wake();
  }

  /** Starts nothing more. */
  async drain(): Promise<void> {
    const stopped = Promise.all(this.#watches.map((watch) => watch.stop()));
    const stop = await this.#stopListening;
    await stop();
    await stopped;
  }

  /** Searches for waiting deliveries, and once more if it is called during a search. */
  readonly wake = (): void => this.#waiting.wake();

  /** Whether there were any. */
  async #startAll(claimed: readonly Claimed[]): Promise<boolean> {
    const failed: string[] = [];
    for (let first = 0; first < claimed.length; first += startsMax) {
      const starts = claimed.slice(first, first + startsMax).map(async (delivery) => {
        try {
          await this.#start(delivery);
        } catch (error) {
          this.#platform.log.warn({ err: error, ...delivery }, 'cannot start a webhook delivery');
          failed.push(delivery.id);
        }
      });
      await Promise.all(starts);
    }
    if (failed.length > 0) await watchDeliveriesSoon(this.#platform, failed);
    return claimed.length > 0;
  }

  async #start({ tenantId, id, webhookId, event, round, attempts }: Claimed): Promise<void> {
    const input: WebhookDeliveryRun = {
      tenantId,
      webhookId,
      deliveryId: id,
      round,
      number: attempts + 1,
      delaysMs: this.#platform.webhookSettings.delaysMs,
    };
    await startWorkflow(this.#platform.temporal, {
      type: 'deliverWebhook',
      taskQueue: webhookQueue(this.#platform.temporal.taskQueue),
      workflowId: `${tenantId}/webhook/${id}/${round}`,
      input,
      subject: { tenantId, entityType: 'webhook', entityId: webhookId, actor: 'webhook' },
      summary: `${event} to a webhook`,
    });
  }
}
