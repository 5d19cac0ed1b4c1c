import {
  claimDeliveries,
  reclaimDeliveries,
  watchDeliveriesSoon,
} from '../activities/webhooks/webhook-delivery.js';
import { webhookChannel, webhookQueue, type WebhookDeliveryRun } from '../messages/webhook.js';
import type { Cell } from '../platform/database/cell.js';
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
  readonly #waiting: readonly Watch[];
  readonly #watches: readonly Watch[];
  readonly #stopListening: Promise<() => Promise<void>>;

  constructor(platform: Platform) {
    this.#platform = platform;
    const watches = platform.database.cells.map((cell) => this.#watchCell(cell));
    this.#waiting = watches.map(({ waiting }) => waiting);
    this.#watches = watches.flatMap((watch) => Object.values(watch));
    this.#stopListening = platform
      .listen(webhookChannel, () => this.wake())
      .catch((error: unknown) => {
        platform.log.warn({ err: error }, 'cannot listen for webhooks; polling');
        return () => Promise.resolve();
      });
    this.wake();
  }

  /** What is looked for in a cell: one that does not answer holds up no other. */
  #watchCell(cell: Cell) {
    const platform = this.#platform;
    const failure = 'cannot look for webhooks; trying again';
    return {
      waiting: new Watch(platform, {
        everyMs: pollMs,
        failure,
        look: async (watch) => {
          // There may be more deliveries than one search may claim.
          while (!watch.isStopped && (await this.#startAll(cell, await claimDeliveries(cell))));
        },
      }),
      lost: new Watch(platform, {
        everyMs: pollMs,
        failure,
        look: async () => void (await this.#startAll(cell, await reclaimDeliveries(cell))),
      }),
    };
  }

  /** Starts nothing more. */
  async drain(): Promise<void> {
    const stopped = Promise.all(this.#watches.map((watch) => watch.stop()));
    const stop = await this.#stopListening;
    await stop();
    await stopped;
  }

  /** Searches for waiting deliveries, and once more if it is called during a search. */
  readonly wake = (): void => {
    for (const watch of this.#waiting) watch.wake();
  };

  /** Whether there were any. */
  async #startAll(cell: Cell, claimed: readonly Claimed[]): Promise<boolean> {
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
    if (failed.length > 0) await watchDeliveriesSoon(cell, failed);
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
