import {
  claimDeliveries,
  purgeDeliveries,
  reclaimDeliveries,
  watchDeliveriesSoon,
} from '../activities/webhooks/webhook.js';
import { webhookChannel, webhookQueue, type WebhookDeliveryRun } from '../messages/webhook.js';
import type { Platform } from '../process/platform.js';
import { startWorkflow } from '../platform/temporal/workflow-start.js';

/** Interval of polling for deliveries, in addition to notifications. */
const pollMs = 1_000;
/** Interval of deleting deliveries beyond their retention. */
const purgeMs = 3_600_000;
/** Workflows that are started at the same time. */
const startsMax = 20;

type Claimed = Awaited<ReturnType<typeof claimDeliveries>>[number];

/**
 * Claims deliveries from the outbox and starts a workflow for each. It is stateless: a delivery
 * claimed by a process that then died is claimed again, and joins its workflow by the workflow id.
 */
export class WebhookDispatcher {
  readonly #platform: Platform;
  readonly #timer: NodeJS.Timeout;
  readonly #purgeTimer: NodeJS.Timeout;
  readonly #stopListening: Promise<() => Promise<void>>;
  #looking: Promise<void> | undefined;
  #purging: Promise<void> | undefined;
  #mustLookAgain = false;
  #mustReclaim = true;
  #isDraining = false;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#timer = setInterval(() => {
      this.#mustReclaim = true;
      this.wake();
    }, pollMs);
    this.#purgeTimer = setInterval(() => {
      this.#purging ??= this.#purge().finally(() => {
        this.#purging = undefined;
      });
    }, purgeMs);
    this.#stopListening = platform.listen(webhookChannel, this.wake).catch((error: unknown) => {
      platform.log.warn({ err: error }, 'cannot listen for webhooks; polling');
      return () => Promise.resolve();
    });
    this.wake();
  }

  /** Starts nothing more. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#timer);
    clearInterval(this.#purgeTimer);
    const stop = await this.#stopListening;
    await stop();
    await this.#looking;
    await this.#purging;
  }

  /** Searches for waiting deliveries, and once more if it is called during a search. */
  readonly wake = (): void => {
    if (this.#isDraining) return;
    this.#mustLookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#mustLookAgain) this.wake();
    });
  };

  async #look(): Promise<void> {
    while (this.#mustLookAgain && !this.#isDraining) {
      this.#mustLookAgain = false;
      try {
        const claimed = await claimDeliveries(this.#platform);
        await this.#startAll(claimed);
        // Lost deliveries are rare, and minutes late anyway.
        if (this.#mustReclaim) {
          this.#mustReclaim = false;
          await this.#startAll(await reclaimDeliveries(this.#platform));
        }
        // There may be more deliveries than one search may claim.
        if (claimed.length > 0) this.#mustLookAgain = true;
      } catch (error) {
        this.#platform.log.warn({ err: error }, 'cannot look for webhooks; trying again');
        return;
      }
    }
  }

  async #purge(): Promise<void> {
    try {
      await purgeDeliveries(this.#platform);
    } catch (error) {
      this.#platform.log.warn({ err: error }, 'cannot delete old deliveries of webhooks');
    }
  }

  async #startAll(claimed: readonly Claimed[]): Promise<void> {
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
